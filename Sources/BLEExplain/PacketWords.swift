package import BLERuntime
package import BLEWire

/// A writer of a few words about each packet, for one line of a monitor.
///
/// | packet | words |
/// | --- | --- |
/// | ATT | the attribute with its name, and the decoded value or the error |
/// | Command Complete, Command Status | the command, and the error if it failed |
/// | connection, disconnection | the peer, or the reason |
/// | advertising report | the address and signal strength |
///
/// It learns the names of attributes from discovery, so it needs all packets of a source, in order. It accepts any
/// octets, and everything that it stores has a limit.
package struct PacketWords: Sendable {
    /// The words about a packet.
    package struct Summary: Equatable, Sendable {
        /// The words; empty if there is nothing to say beyond the names of the packet's layers.
        package internal(set) var text = ""
        package internal(set) var kind = Kind.other
    }

    /// The kind of a packet, by which monitors choose a colour.
    package enum Kind: Sendable {
        case control, attribute, security, failure, other
    }

    private static let mostSources = 256
    private static let mostRequests = 1_024
    private static let mostReports = 4

    private var sources: [PacketSource: Int] = [:]
    private var frames = LinkFrames()
    private var attributes: AttributeNames
    private var requests: [LinkFrames.Stream: ATTPacket] = [:]

    /// Creates a writer; `reading` decodes a characteristic's value into readable text, or returns `nil` if the value's
    /// format is unknown.
    package init(reading: @escaping @Sendable (BluetoothUUID, [UInt8]) -> String?) {
        attributes = AttributeNames(reading: reading)
    }

    /// Returns the words about the next packet; `record` and `packet` are the same packet, as recorded and dissected.
    package mutating func summarize(_ record: PacketRecord, _ packet: DissectedPacket) -> Summary {
        let source = number(of: record.source), isFromHost = record.direction == .toController
        switch packet.codes.type {
        case .command: return Summary(kind: .control)
        case .event:
            guard record.missing == 0, let event = try? HCIEventPacket(decoding: Array(record.bytes.dropFirst())) else {
                return Summary(kind: .control)
            }
            return words(event, source)
        case .acl:
            guard record.missing == 0, let frame = frames.add(record.bytes, source, isFromHost) else { break }
            if frame.channel == 4 {
                return words(frame.payload, .init(source: source, link: frame.link, isFromHost: isFromHost))
            }
            return Summary(kind: packet.codes.security == nil ? .other : .security)
        default: break
        }
        return Summary()
    }

    private mutating func number(of source: PacketSource) -> Int {
        if let known = sources[source] { return known }
        if sources.count >= Self.mostSources { return Self.mostSources }
        sources[source] = sources.count
        return sources.count - 1
    }

    private mutating func words(_ event: HCIEventPacket, _ source: Int) -> Summary {
        func outcome(_ status: HCI.Status, _ text: String) -> Summary {
            status == .success
                ? Summary(text: text, kind: .control) : Summary(text: "\(text): \(status)", kind: .failure)
        }
        switch event {
        case .commandComplete(let event):
            let status = event.parameters.first.map { HCI.Status(wire: $0) } ?? .success
            return outcome(status, "\(event.opcode)")
        case .commandStatus(let event): return outcome(event.status, "\(event.opcode)")
        case .leConnectionComplete(let event):
            return outcome(event.status, "\(event.peer), handle \(event.handle.wire)")
        case .leEnhancedConnectionComplete(let event):
            return outcome(event.status, "\(event.peer), handle \(event.handle.wire)")
        case .disconnectionComplete(let event):
            attributes.forget(event.handle.wire, of: source)
            let isPlanned = [.connectionTerminatedByLocalHost, .remoteUserTerminatedConnection].contains(event.reason)
            let text = "handle \(event.handle.wire), \(event.reason)"
            return Summary(text: text, kind: isPlanned ? .control : .failure)
        case .encryptionChange(let event): return outcome(event.status, "handle \(event.handle.wire)")
        case .encryptionChangeV2(let event): return outcome(event.status, "handle \(event.handle.wire)")
        case .leAdvertisingReport(let event):
            let reports = event.reports.prefix(Self.mostReports).map { "\($0.address) \($0.rssi)" }
            return Summary(text: reports.joined(separator: ", "), kind: .control)
        case .leExtendedAdvertisingReport(let event):
            let reports = event.reports.prefix(Self.mostReports).map { "\($0.address) \($0.rssi)" }
            return Summary(text: reports.joined(separator: ", "), kind: .control)
        default: return Summary(kind: .control)
        }
    }

    private mutating func words(_ payload: [UInt8], _ stream: LinkFrames.Stream) -> Summary {
        guard let first = payload.first, let packet = try? ATTPacket(decoding: payload) else {
            return Summary(kind: .failure)
        }
        let role = AttributeNames.Role(of: ATT.Opcode(wire: first), on: stream)
        var request: ATTPacket?
        switch role.part {
        case .request:
            if requests.count >= Self.mostRequests { requests = [:] }
            requests[stream] = packet
        case .response:
            request = requests.removeValue(forKey: stream.reversed)
            attributes.learn(packet, from: role.server, asked: request?.searchedType)
        case .message: break
        }
        let text = attributes.words(packet, of: role.server, requested: request?.handle)
        let isFailure = if case .errorResponse(let error) = packet { error.code != .attributeNotFound } else { false }
        return Summary(text: text, kind: isFailure ? .failure : .attribute)
    }
}
