import BLEWire

@testable import BLEHost

/// One host that is a peer's client and another peer's server, and whatever may happen there, by chance.
///
/// The same seed is the same story, however packets come in and whether the controller has room for what goes out.
struct FastPathStory {
    /// What keeps packets from the short way.
    enum Detour: CaseIterable {
        case none
        /// Each packet of a peer comes in two parts.
        case inFragments
        /// No packet fits a buffer of the controller.
        case throughSmallBuffers
        /// The app says to whom each value is to go.
        case toNamedCentral
    }

    static let served = ConnectionHandle(wire: 0x40) ?? .lowest
    static let asking = ConnectionHandle(wire: 0x41) ?? .lowest
    static let readable = LocalAttributeID(rawValue: 1)
    static let notified = LocalAttributeID(rawValue: 2)
    static let subscribed = AttributeHandle(wire: 9)

    let rig: Rig
    private let detour: Detour
    private let peer: PeerIdentifier
    private let central: PeerIdentifier
    /// Where the app's characteristics are, and the descriptor by which they are subscribed to.
    private let held: AttributeHandle
    private let configuration: AttributeHandle
    private var random: SeededGenerator
    private var latest = RequestNumber.none
    private var answeredFrames = 0
    private var answeredEvents = 0
    private var hasSecond = false

    init(seed: UInt64, _ detour: Detour) {
        var controller = FakeController.old
        controller.buffers = detour == .throughSmallBuffers ? (4, 255) : (64, 255)
        rig = .ready(controller)
        self.detour = detour
        random = SeededGenerator(seed: seed)
        let served = DeviceAddress(0xC0FF_EE00_0001, .random), asking = DeviceAddress(0xC0FF_EE00_0002, .random)
        rig.perform(.service(.addService(Self.service)), for: Rig.peripheral)
        peer = rig.discover(served)
        rig.perform(.connect(peer, ConnectRequest()))
        rig.connect(served, Self.served.wire)
        rig.connect(asking, Self.asking.wire, role: .peripheral)
        central = rig.host.links[Self.asking]?.peer ?? peer
        let own = rig.host.layers.attributes.database.attributes
        held =
            own.first { $0.content == .provided(by: .init(client: Rig.peripheral, id: Self.readable)) }?.handle ?? .none
        configuration = own.last { if case .configuration = $0.content { true } else { false } }?.handle ?? .none
        deliver(.writeRequest(.init(handle: configuration, value: [1, 0])), on: Self.asking)
        let features = own.first { $0.type == GATT.clientFeatures }?.handle ?? .none
        deliver(.writeRequest(.init(handle: features, value: [ClientFeatures.robustCaching.rawValue])), on: Self.asking)
        let range = AttributeHandleRange(.init(wire: 10), .init(wire: 10))
        rig.perform(.peer(peer, .subscribe(.notifications, to: Self.subscribed, in: range)))
        for _ in 0..<8 { answer(isTame: true) }
        rig.forget()
        (answeredFrames, answeredEvents) = (0, 0)
    }

    /// Has the client ask its peer for something, under the next number.
    private mutating func ask(_ request: PeerRequest) {
        latest = latest.next
        rig.perform(.peer(peer, request, latest))
    }

    /// Lets something happen.
    mutating func step() {
        let value = [UInt8](repeating: .random(in: 0...255, using: &random), count: .random(in: 0...30, using: &random))
        let handle = AttributeHandle(wire: .random(in: 8...11, using: &random))
        let own = [held, held, configuration, .init(wire: 0x7777)].randomElement(using: &random) ?? held
        switch Int.random(in: 0..<22, using: &random) {
        case 0, 1: ask(.read(handle))
        case 2: ask(.write(handle, value))
        case 3: rig.perform(.peer(peer, .writeCommand(handle, value)))
        case 4, 5, 6: answer(isTame: false)
        case 7: deliver(.notification(.init(handle: handle, value: value)), on: Self.served)
        case 8:
            let centrals = detour == .toNamedCentral ? [central] : nil
            rig.perform(.service(.update(Self.notified, value, to: centrals)), for: Rig.peripheral)
        case 9: deliver(.readRequest(.init(handle: own)), on: Self.asking)
        case 10: deliver(.writeRequest(.init(handle: own, value: value)), on: Self.asking)
        case 11: deliver(.writeCommand(.init(handle: own, value: value)), on: Self.asking)
        case 12, 13: respond(with: value)
        case 14: rig.advance(by: .milliseconds(.random(in: 1...400, using: &random)))
        case 15, 16, 17, 18: deliver(search(), on: Self.asking)
        case 19: deliver(.readByTypeRequest(.init(.all, type: GATT.databaseHash)), on: Self.asking)
        case 20: if Int.random(in: 0..<8, using: &random) == 0 { changeServices() }
        default:
            deliver(
                [
                    [0x0A], [0x0A, 1, 0, 0], [0x1B, 1], [0x12, 1], [0x52], [0x0B], [0x13, 0], [0x7F], [0x08],
                    [0x08, 1, 0, 9, 0, 3], [0x10, 1, 0, 9, 0, 0, 0x28, 0], [0x04, 1, 0, 9],
                ][Int.random(in: 0..<12, using: &random)],
                on: Bool.random(using: &random) ? Self.served : Self.asking
            )
        }
    }

    /// A request that looks for attributes somewhere, of which some are in the wrong order.
    private mutating func search() -> ATTPacket {
        let start = AttributeHandle(wire: .random(in: 0...24, using: &random)),
            end = AttributeHandle(wire: [9, 18, 30, 0xFFFF].randomElement(using: &random) ?? 9)
        let types = [
            GATT.primaryService, GATT.secondaryService, GATT.characteristic, GATT.deviceName, GATT.clientConfiguration,
            GATT.serviceChanged, .short(0xBE01), .full(BluetoothUUID.base),
        ]
        var byType = ATT.ReadByTypeRequest(), byGroup = ATT.ReadByGroupTypeRequest()
        (byType.start, byType.end, byType.type) = (start, end, types.randomElement(using: &random) ?? types[0])
        (byGroup.start, byGroup.end, byGroup.groupType) = (start, end, byType.type)
        var byValue = ATT.FindByTypeValueRequest()
        (byValue.start, byValue.end, byValue.type, byValue.value) = (start, end, 0x2800, [0x00, 0xBE])
        switch Int.random(in: 0..<6, using: &random) {
        case 0: return .findInformationRequest(.init(start: start, end: end))
        case 1: return .findByTypeValueRequest(byValue)
        case 2: return .readByGroupTypeRequest(byGroup)
        default: return .readByTypeRequest(byType)
        }
    }

    /// Has the app remove the service that it has beside its first, or add one if it has none.
    private mutating func changeServices() {
        hasSecond.toggle()
        let id = LocalAttributeID(rawValue: 10),
            value = CharacteristicDefinition(
                id: LocalAttributeID(rawValue: 11),
                uuid: .full(BluetoothUUID.base | 1),
                properties: .read,
                permissions: .readable,
                value: [1, 2, 3]
            )
        let second = ServiceDefinition(id: id, uuid: .full(BluetoothUUID.base | 2), characteristics: [value])
        rig.perform(.service(hasSecond ? .addService(second) : .removeService(id)), for: Rig.peripheral)
    }

    /// Answers what this host asked last, if it has not been: rightly, or in some other way.
    private mutating func answer(isTame: Bool) {
        let asked = rig.frames.filter { $0.link == Self.served && $0.channel == .attribute }.dropFirst(answeredFrames)
        for frame in asked {
            answeredFrames += 1
            guard let request = try? ATTPacket(decoding: frame.payload), request.opcode.response != nil else {
                continue
            }
            let refusal = ATT.ErrorResponse(request: request.opcode, handle: .none, code: .attributeNotFound)
            guard isTame || Int.random(in: 0..<6, using: &random) > 0 else {
                return deliver(.errorResponse(refusal), on: Self.served)
            }
            switch request {
            case .exchangeMTURequest: deliver(.exchangeMTUResponse(.init(serverMTU: 27)), on: Self.served)
            case .findInformationRequest(let request):
                let entry = ATT.FindInformationResponse.Entry(handle: request.start, type: .short(0x2902))
                deliver(.findInformationResponse(.init(entries: [entry])), on: Self.served)
            case .readRequest:
                let count = Int.random(in: 0...28, using: &random)
                deliver(.readResponse(.init(value: [UInt8](repeating: 7, count: count))), on: Self.served)
            case .writeRequest: deliver(.writeResponse, on: Self.served)
            default: deliver(.errorResponse(refusal), on: Self.served)
            }
        }
    }

    /// Has the app answer the oldest request that it has not answered.
    private mutating func respond(with value: [UInt8]) {
        let events = rig.events(of: Rig.peripheral)
        while answeredEvents < events.count {
            answeredEvents += 1
            switch events[answeredEvents - 1] {
            case .server(.readRequested(let transaction, _, _, _)), .server(.writeRequested(let transaction?, _, _)):
                let isGood = Int.random(in: 0..<5, using: &random) > 0
                let response = isGood ? ServerResponse.success(value) : .failure(.unlikelyError)
                return rig.perform(.service(.respond(transaction, response)), for: Rig.peripheral)
            default: continue
            }
        }
    }

    private func deliver(_ packet: ATTPacket, on link: ConnectionHandle) { deliver(packet.encoded, on: link) }

    private func deliver(_ payload: [UInt8], on link: ConnectionHandle) {
        var frame = PacketEncoder()
        L2CAPHeader(length: UInt16(payload.count), channel: .attribute).encode(into: &frame)
        frame.append(contentsOf: payload)
        let split = detour == .inFragments ? 3 : frame.bytes.count
        for (boundary, part) in [
            (ACLHeader.Boundary.firstFromController, frame.bytes[..<split]),
            (.continuing, frame.bytes[split...]),
        ] where !part.isEmpty {
            var packet = PacketEncoder()
            packet.append(octet: HCI.PacketType.acl.wire)
            ACLHeader(handle: link, boundary: boundary, length: UInt16(part.count)).encode(into: &packet)
            packet.append(contentsOf: part)
            rig.host.receive(packet.bytes.span, at: rig.now)
        }
        rig.pump()
    }

    private static let service = ServiceDefinition(
        id: LocalAttributeID(rawValue: 0),
        uuid: .short(0xBE00),
        characteristics: [
            .init(
                id: readable,
                uuid: .short(0xBE01),
                properties: [.read, .write, .writeWithoutResponse],
                permissions: [.readable, .writeable]
            ),
            .init(id: notified, uuid: .short(0xBE02), properties: .notify, permissions: []),
        ]
    )
}
