import BLEHost
import BLERuntime
import BLEWire

/// The recent calls, callbacks and packets of a world.
struct Story: Sendable {
    enum Entry: Sendable {
        /// An app's request through the manager with the number `client`; the app is identified by its machine and
        /// index.
        case asked(ClientRequest, machine: Int, app: Int, client: Int)
        case delivered(ClientEvent, machine: Int, app: Int, client: Int)
        /// A remark about a machine, such as a fault.
        case remark(String, machine: Int)
    }

    /// A ring buffer of the latest elements.
    struct Ring<Element: Sendable>: Sendable {
        private let capacity: Int
        private var elements: [Element] = []
        private var next = 0
        private(set) var dropped = 0

        init(_ capacity: Int) { self.capacity = capacity }

        /// Adds an element; returns the oldest element if it had to be removed to make room.
        @discardableResult
        mutating func append(_ element: Element) -> Element? {
            guard elements.count == capacity else {
                elements.append(element)
                return nil
            }
            let gone = elements[next]
            elements[next] = element
            next = (next + 1) % capacity
            dropped += 1
            return gone
        }

        /// The elements, oldest first.
        var all: [Element] { Array(elements[next...] + elements[..<next]) }
    }

    private(set) var entries = Ring<(Instant, Entry)>(200)
    private(set) var packets = Ring<PacketRecord>(1_000)
    /// The names and attributes learnt from entries that have since been dropped.
    private(set) var before = Transcript()
    /// The maximum number of packets in the text.
    private static let mostPackets = 40

    mutating func add(_ entry: Entry, at now: Instant) {
        switch entries.append((now, entry))?.1 {
        case .asked(let request, _, _, let client): before.learn(request, of: client)
        case .delivered(let event, _, _, let client): before.learn(event, of: client)
        case .remark, nil: break
        }
    }

    mutating func add(_ packet: PacketRecord) { packets.append(packet) }

    /// Returns the story as text.
    ///
    /// - Parameters:
    ///   - heading: The first line.
    ///   - name: Returns the names of an app and its machine, or only the name of the machine if the app is `nil`.
    /// - Returns: The lines, oldest first.
    func text(_ heading: String, name: (_ machine: Int, _ app: Int?) -> String) -> String {
        var lines = [heading, ""]
        if entries.dropped > 0 { lines.append("(earlier lines omitted: \(entries.dropped))") }
        var transcript = before
        for (time, entry) in entries.all {
            let stamp = Self.stamp(time)
            switch entry {
            case .asked(let request, let machine, let app, let client):
                let line = transcript.line(request, of: client)
                lines.append("\(stamp)  \(name(machine, app)) #\(client) requests: \(line)")
            case .delivered(let event, let machine, let app, let client):
                let line = transcript.line(event, to: client)
                lines.append("\(stamp)  \(name(machine, app)) #\(client) receives: \(line)")
            case .remark(let text, let machine): lines.append("\(stamp)  \(name(machine, nil)): \(text)")
            }
        }
        let lastPackets = packets.all.suffix(Self.mostPackets)
        if !lastPackets.isEmpty { lines += ["", "The last packets:"] }
        var traces: [(machine: String, trace: HCITrace)] = []
        for packet in lastPackets {
            if !traces.contains(where: { $0.machine == packet.machine }) {
                traces.append((packet.machine, HCITrace()))
            }
            guard let index = traces.firstIndex(where: { $0.machine == packet.machine }) else { continue }
            let isFromHost = packet.direction == .toController
            let line = traces[index].trace.dissect(h4: packet.bytes, isFromHost: isFromHost).line
            lines.append("\(Self.stamp(packet.time))  \(packet.machine) \(isFromHost ? "→" : "←") \(line)")
        }
        return lines.map(\.printable).joined(separator: "\n")
    }

    /// The stored packets as a capture file, in which the world begins at the start of 1970.
    var capture: [UInt8] {
        let format = CaptureFormat.pcapng
        var octets = format.header, sources: [PacketSource] = []
        for packet in packets.all {
            if !sources.contains(packet.source) {
                sources.append(packet.source)
                octets += format.introduction(of: packet.source)
            }
            guard let number = sources.firstIndex(of: packet.source) else { continue }
            let time = packet.time.nanoseconds
            octets += format.record(packet.bytes, packet.direction, of: number, at: time, comments: [])
        }
        return octets
    }

    /// Returns a time in seconds with six decimal places, padded to a fixed width.
    private static func stamp(_ time: Instant) -> String {
        let microseconds = max(0, time.nanoseconds / 1_000)
        let fraction = String(microseconds % 1_000_000)
        let seconds = String(microseconds / 1_000_000)
        let padding = String(repeating: " ", count: max(0, 5 - seconds.count))
        return padding + seconds + "." + String(repeating: "0", count: 6 - fraction.count) + fraction
    }
}
