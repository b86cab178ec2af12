import BLEHost
import BLEWire

/// A driver that runs a GATT server with the database of a test case.
struct AttributeServerDriver: Driver {
    private struct Ready: Encodable {
        let ready = true
    }

    private struct Command: Decodable {
        struct Action: Decodable {
            let op: String
            let handle: AttributeHandle
            let value: String
        }

        let `do`: Action
    }

    private struct Answer: Encodable {
        struct Result: Encodable {
            var confirmed: Bool?
        }

        let result: Result
    }

    private static let link = ConnectionHandle(wire: 0x0040)!

    private var layer: AttributeLayer
    private var lines: [String]

    init(_ description: AttributeCase, at now: Instant) throws {
        layer = AttributeLayer(configuration: description.configuration, database: try description.makeDatabase())
        layer.linkUp(Self.link, peer: PeerIdentifier(rawValue: 1), role: .peripheral, at: now)
        lines = [JSONLine.text(Ready())]
    }

    var deadline: Instant? { mutating get { layer.deadline } }

    mutating func receive(packet: [UInt8], at now: Instant) { layer.receive(packet.span, on: Self.link, at: now) }

    mutating func wake(at now: Instant) { layer.wake(at: now) }

    mutating func receive(line: String, at now: Instant) throws {
        let action = try JSONLine.value(Command.self, in: line).do
        let value = try [UInt8](hexadecimal: action.value)
        switch action.op {
        case "send_notification":
            layer.send(value, of: action.handle, .notifications, on: Self.link, at: now)
            lines.append(JSONLine.text(Answer(result: .init())))
        case "send_indication": layer.send(value, of: action.handle, .indications, on: Self.link, at: now)
        default: throw InvalidInput("a server has no operation “\(action.op)”")
        }
    }

    mutating func next() -> DriverOutput? {
        if !lines.isEmpty { return .line(lines.removeFirst()) }
        while let output = layer.next() {
            switch output {
            case .send(let pdu, _, _): return .packet(pdu.payload)
            case .confirmed: return .line(JSONLine.text(Answer(result: .init(confirmed: true))))
            case .bearer, .event, .mtuSettled, .abandon, .used, .nameRead, .servicesKnown, .secure, .bondChanged, .note:
                continue
            }
        }
        return nil
    }
}
