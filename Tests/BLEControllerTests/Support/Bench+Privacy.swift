import BLEController
import BLECrypto
import BLEWire

/// Which commands a host uses, and so what is on the air.
enum Form: CaseIterable, Sendable { case legacy, extended }

extension Bench {
    /// The identity resolving key of a board.
    static func key(_ board: Int) -> Key128 {
        Key128(wire: 0xEC02_34A3_57C8_AD05_3410_10A6_0A39_7D9B &+ UInt128(board))
    }

    /// Who a board is that uses an address of this type.
    static func identity(_ board: Int, _ own: HCI.OwnAddress) -> DeviceAddress {
        own.rawValue & 1 == 0 ? address(board) : DeviceAddress(0xF0DE_0000_0000 | UInt64(board), .random)
    }

    /// The identity of a board as hosts hear it that have resolved it.
    static func resolved(_ board: Int, _ own: HCI.OwnAddress) -> DeviceAddress {
        DeviceAddress(identity(board, own).value, own.rawValue & 1 == 0 ? .publicIdentity : .randomIdentity)
    }

    /// Adds a board that has a random identity, too.
    mutating func addPrivate() -> Int {
        let board = add()
        send(.leSetRandomAddress(.init(address: Self.identity(board, .random))), board)
        return board
    }

    /// Has a board know the key of a peer, and use its own towards it.
    mutating func list(
        _ peer: Int,
        as own: HCI.OwnAddress = .public,
        hasPeerKey: Bool = true,
        hasLocalKey: Bool = true,
        mode: HCI.LESetPrivacyMode.PrivacyMode = .network,
        on board: Int
    ) {
        let identity = Self.identity(peer, own)
        let entry = HCI.LEAddDeviceToResolvingList(
            identity: identity,
            peerKey: hasPeerKey ? Self.key(peer) : .zero,
            localKey: hasLocalKey ? Self.key(board) : .zero
        )
        send(.leAddDeviceToResolvingList(entry), board)
        if mode != .network { send(.leSetPrivacyMode(.init(identity: identity, mode: mode)), board) }
    }

    mutating func resolve(_ board: Int, _ enable: Bool = true) {
        send(.leSetAddressResolutionEnable(.init(enable: enable)), board)
    }

    /// Has two boards know each other's key, and resolve addresses.
    mutating func befriend(_ a: Int, _ b: Int, as own: HCI.OwnAddress = .public) {
        list(a, as: own, on: b)
        list(b, as: own, on: a)
        resolve(a)
        resolve(b)
    }

    /// Advertises so that everyone may connect, or `target` alone; a set of extended commands is number 0.
    mutating func announce(
        _ form: Form,
        _ board: Int,
        own: HCI.OwnAddress,
        peer: DeviceAddress = .none,
        isDirected: Bool = false,
        policy: HCI.AdvertisingFilterPolicy = .everyone
    ) {
        switch form {
        case .legacy:
            let type: HCI.AdvertisingType = isDirected ? .directedLowDutyCycle : .connectable
            advertise(board, type: type, response: [2, 0x0A, 4], own: own, peer: peer, policy: policy)
        case .extended:
            let properties: HCI.AdvertisingProperties = isDirected ? [.connectable, .directed] : [.connectable]
            let parameters = Self.parameters(0, properties, own: own, peer: peer, policy: policy)
            send(.leSetExtendedAdvertisingParameters(parameters), board)
            if own.rawValue & 1 == 1 {
                let address = Self.identity(board, own)
                send(.leSetAdvertisingSetRandomAddress(.init(set: Self.set(0), address: address)), board)
            }
            _ = enable(0, board)
        }
    }

    mutating func listen(
        _ form: Form,
        _ board: Int,
        type: HCI.ScanType = .passive,
        own: HCI.OwnAddress = .public,
        policy: HCI.ScanFilterPolicy = .everyone
    ) {
        switch form {
        case .legacy: scan(board, type: type, own: own, policy: policy)
        case .extended: scanExtended(board, type: type, own: own, policy: policy)
        }
    }

    /// Asks for a connection to `peer`, or to whoever is on the accept list.
    mutating func seek(_ form: Form, _ board: Int, _ peer: DeviceAddress?, own: HCI.OwnAddress = .public) {
        switch form {
        case .legacy: initiate(board, to: peer, own: own)
        case .extended: initiateExtended(board, to: peer, own: own)
        }
    }

    /// The advertisers of all reports, in both forms.
    func heard(_ board: Int) -> [DeviceAddress] {
        reports(board).map(\.address) + extendedReports(board).map(\.address)
    }

    /// The connections that a board told of.
    func connections(_ board: Int) -> [HCI.LEEnhancedConnectionComplete] {
        events(board).compactMap { event in
            guard case .leEnhancedConnectionComplete(let event) = event, event.status == .success else { return nil }
            return event
        }
    }

    /// The addresses in the packets that a board has sent on advertising channels: its own, and those of others.
    func sent(_ board: Int) -> [(instant: Instant, own: DeviceAddress, other: DeviceAddress?)] {
        records.compactMap { record in
            guard record.sender == ControllerID(rawValue: board), record.accessAddress == LL.advertisingAccessAddress,
                let pdu = try? AdvertisingPDU(decoding: record.pdu)
            else { return nil }
            switch pdu {
            case .connectable(let packet, _), .nonConnectable(let packet), .scannable(let packet),
                .scanResponse(let packet):
                return (record.instant, packet.advertiser, nil)
            case .directed(let packet, _): return (record.instant, packet.advertiser, packet.target)
            case .scanRequest(let packet): return (record.instant, packet.scanner, packet.advertiser)
            case .connect(let packet, _): return (record.instant, packet.initiator, packet.advertiser)
            case .extended(let packet), .connectResponse(let packet):
                return packet.advertiser.map { (record.instant, $0, packet.target) }
            case .unknown: return nil
            }
        }
    }

    /// The private address that a board says that it uses towards a peer, or that the peer uses.
    mutating func readAddress(of peer: DeviceAddress, isLocal: Bool, _ board: Int) throws -> DeviceAddress? {
        send(
            isLocal
                ? .leReadLocalResolvableAddress(.init(identity: peer))
                : .leReadPeerResolvableAddress(.init(identity: peer)),
            board
        )
        guard case .commandComplete(let answer)? = said[board].last?.event, answer.status == .success else {
            return nil
        }
        return isLocal
            ? try answer.returned(by: HCI.LEReadLocalResolvableAddress.self).address
            : try answer.returned(by: HCI.LEReadPeerResolvableAddress.self).address
    }
}
