import BLEHost
import BLEWire
import Testing

/// Core 6.0, Vol 3, Part H, 2.4.5.
@Suite("Signed writes")
struct WriteSignatureTests {
    /// The key of RFC 4493.
    static let key = Key128(wire: 0x2B7E_1516_28AE_D2A6_ABF7_1588_09CF_4F3C)

    @Test(
        "Signatures match those of other implementations",
        arguments: [
            ("", 0, "00000000 b3a8594127ebc2c0"), ("6bc1bee22e409f96e93d7e117393172a", 0, "00000000 273974f4392a232a"),
            (
                "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e5130c81c46a35ce411", 0,
                "00000000 b7ca94ab87c78218"
            ), ("d212001337", 0x0102_0304, "04030201 9adbdd51d9b8ae69"),
        ] as [(String, UInt32, String)]
    )
    func vectors(packet: String, counter: UInt32, signature: String) {
        let signed = WriteSignature(of: [UInt8](packet), counter: counter, key: Self.key)
        #expect(signed.octets.hexadecimal == [UInt8](signature).hexadecimal)
    }

    /// A link to a bonded peer, and one service with a value at 18 that can be written.
    private func makeLayer(nextCounter: UInt32? = 5) -> LoneLayer {
        var lone = LoneLayer(role: .peripheral, database: GATTDatabase(deviceName: "", appearance: 0))
        _ = lone.perform(
            .addService(
                .init(
                    id: .init(rawValue: 1),
                    uuid: .short(0xB000),
                    characteristics: [
                        .init(
                            id: .init(rawValue: 2),
                            uuid: .short(0xB001),
                            properties: .authenticatedSignedWrites,
                            permissions: .writeable
                        )
                    ]
                )
            )
        )
        var bond = Bond(identity: DeviceAddress(1, .public))
        bond.remoteSigning = RemoteSigning(key: Self.key, nextCounter: nextCounter)
        lone.layer.bonded(LoneLayer.link, bond, at: lone.now)
        _ = lone.sent()
        (lone.events, lone.others) = ([], [])
        return lone
    }

    private func command(_ value: [UInt8], counter: UInt32, key: Key128 = key) -> [UInt8] {
        let handle = AttributeHandle(wire: 18)
        let signature = WriteSignature(of: value, to: handle, counter: counter, key: key)
        return [0xD2, 18, 0] + value + signature.octets
    }

    private func takes(_ lone: inout LoneLayer, _ packet: [UInt8]) -> Bool {
        #expect(lone.answers(to: packet) == [])
        return !lone.serverEvents().isEmpty
    }

    @Test("Each signed write is accepted once, and never after a later one")
    func replay() {
        var lone = makeLayer()
        let attempts: [(UInt32, Bool)] = [
            (4, false), (5, true), (5, false), (6, true), (100, true), (50, false), (100, false), (.max, true),
            (.max, false), (0, false),
        ]
        for (counter, isTaken) in attempts {
            let isTakenNow = takes(&lone, command([1, 2], counter: counter))
            #expect(isTakenNow == isTaken, "\(counter)")
        }
        let counters = lone.others.compactMap { output -> UInt32?? in
            if case .bondChanged(_, let bond) = output { bond.remoteSigning?.nextCounter } else { nil }
        }
        #expect(counters == [6, 7, 101, nil])
    }

    @Test("A signed write that was changed is ignored, and does not use up a counter")
    func forgeries() {
        var lone = makeLayer()
        let good = command([1, 2], counter: 5)
        for index in 1..<good.count {
            var forged = good
            forged[index] ^= 1
            #expect(!takes(&lone, forged), "octet \(index)")
        }
        #expect(!takes(&lone, command([1, 2], counter: 5, key: .zero)))
        #expect(lone.notes.count == good.count)
        #expect(takes(&lone, good))
    }

    @Test("Signed writes without a bond, key or counter are ignored")
    func keyless() {
        var unbonded = LoneLayer(role: .peripheral)
        #expect(!takes(&unbonded, command([1], counter: 5)))
        var worn = makeLayer(nextCounter: nil)
        #expect(!takes(&worn, command([1], counter: .max)))
        worn.layer.bonded(LoneLayer.link, Bond(identity: DeviceAddress(1, .public)), at: worn.now)
        #expect(!takes(&worn, command([1], counter: 6)))
    }
}
