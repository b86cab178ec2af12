import BLEController
import BLEWire

extension LinkProcedureTests.Linked {
    static var key: Key128 { Key128(wire: 0x4C68_3841_39F5_74D8_36BC_F34E_9DFB_01BF) }

    /// Has the central's host ask for encryption.
    mutating func enableEncryption(
        _ key: Key128 = LinkProcedureTests.Linked.key,
        random: UInt64 = 5,
        diversifier: UInt16 = 6
    ) -> HCI.Status? {
        let command = HCI.LEEnableEncryption(
            handle: handle(central),
            random: random,
            diversifier: diversifier,
            key: key
        )
        return bench.ask(.leEnableEncryption(command), central)
    }

    /// The keys that the peripheral's host was asked for.
    var keyRequests: [HCI.LELongTermKeyRequest] {
        bench.events(peripheral).compactMap { if case .leLongTermKeyRequest(let event) = $0 { event } else { nil } }
    }

    /// Waits until the peripheral's host is asked for a key once more, and has it answer.
    mutating func giveKey(_ key: Key128?, within limit: Duration = .seconds(20)) -> HCI.Status? {
        let asked = keyRequests.count, end = bench.now + limit
        while keyRequests.count == asked, bench.now < end { bench.run(for: .milliseconds(5)) }
        guard keyRequests.count > asked else { return nil }
        let handle = handle(peripheral)
        guard let key else { return bench.ask(.leLongTermKeyRequestNegativeReply(.init(handle: handle)), peripheral) }
        return bench.ask(.leLongTermKeyRequestReply(.init(handle: handle, key: key)), peripheral)
    }

    /// Encrypts the link, or encrypts it anew, and lets that come to its end.
    mutating func encrypt(
        _ key: Key128 = LinkProcedureTests.Linked.key,
        answer: Key128? = LinkProcedureTests.Linked.key
    ) {
        _ = enableEncryption(key)
        _ = giveKey(answer)
        bench.run(for: .seconds(2))
    }

    /// What a host heard of encryption.
    func encryptionEvents(_ board: Int) -> [HCIEventPacket] {
        bench.events(board).filter { event in
            switch event {
            case .encryptionChange, .encryptionChangeV2, .encryptionKeyRefreshComplete: true
            default: false
            }
        }
    }

    /// What a host hears when its link is encrypted.
    func encrypted(_ board: Int) -> HCIEventPacket {
        .encryptionChangeV2(.init(status: .success, handle: handle(board), encryption: .on, keySize: 16))
    }

    /// What the central's host hears when its link could not be encrypted.
    func failed(_ status: HCI.Status) -> HCIEventPacket {
        .encryptionChangeV2(.init(status: status, handle: handle(central), encryption: .off, keySize: 0))
    }

    /// What a host hears when its link is encrypted anew.
    func refreshed(_ board: Int) -> HCIEventPacket {
        .encryptionKeyRefreshComplete(.init(status: .success, handle: handle(board)))
    }
}
