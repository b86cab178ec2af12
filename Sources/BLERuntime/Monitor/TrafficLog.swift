package import BLEWire
package import Logging

/// What passes between apps, a host and its controller, as lines of the log.
///
/// With the level `debug` of ``Logging/Logger/levelVariable`` it is what apps ask for and hear, with `trace` also each
/// packet, taken apart. The packets of a pairing, and with them its keys, are among those.
package struct TrafficLog: Sendable {
    /// Of how many machines links are remembered, to take packets apart that come in fragments.
    private static let mostMachines = 64

    private let logger: Logger
    private var traces: [(machine: String, trace: HCITrace)] = []

    /// The log of whoever asked for one; `nil` if the level of `logger` asks for less.
    package init?(_ logger: Logger = .coreBluetooth) {
        guard logger.logLevel <= .debug else { return nil }
        self.logger = logger
    }

    /// An app asks for something, or hears of it.
    package func hear(_ text: String) { logger.debug("\(text)") }

    /// A packet passes; `time` says when, where the time of the log is another.
    package mutating func see(_ record: PacketRecord, time: String = "") {
        guard logger.logLevel <= .trace else { return }
        let isFromHost = record.direction == .toController
        if !traces.contains(where: { $0.machine == record.machine }) {
            if traces.count >= Self.mostMachines { traces.removeFirst() }
            traces.append((record.machine, HCITrace()))
        }
        guard let index = traces.firstIndex(where: { $0.machine == record.machine }) else { return }
        let packet = traces[index].trace.dissect(h4: record.bytes, isFromHost: isFromHost)
        logger.trace("\(time)\(record.machine) \(isFromHost ? "→" : "←") \(packet.line)")
    }
}

extension DissectedPacket {
    /// The names of all layers, and the fields of packets of attributes as far as a line has room for them.
    package var line: String { (layers + completed).map(\.summary).joined(separator: " / ") }
}

extension DissectedLayer {
    fileprivate var summary: String {
        guard name.hasPrefix("ATT") else { return name }
        let fields = fields.dropFirst().map { "\($0.name) \($0.text)" }.joined(separator: ", ")
        return fields.isEmpty ? name : "\(name) (\(String(fields.prefix(80))))"
    }
}
