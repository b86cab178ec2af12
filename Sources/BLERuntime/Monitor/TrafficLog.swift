package import BLEWire
package import Logging

/// The log of the traffic between apps, a host and its controller.
///
/// The level `debug` of ``Logging/Logger/levelVariable`` logs requests and events of apps; `trace` also logs each
/// decoded packet, including the keys of pairing.
package struct TrafficLog: Sendable {
    /// The maximum number of machines whose links are tracked to decode fragments.
    private static let mostMachines = 64

    private let logger: Logger
    private var traces: [(machine: String, trace: HCITrace)] = []

    /// Creates the log; returns `nil` if the level of `logger` excludes it.
    package init?(_ logger: Logger = .coreBluetooth) {
        guard logger.logLevel <= .debug else { return nil }
        self.logger = logger
    }

    /// Logs a request or event of an app.
    package func comment(_ text: String) { logger.debug("\(text)") }

    /// Logs a packet; `time` is its time, if it differs from that of the log.
    package mutating func record(_ record: PacketRecord, time: String = "") {
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
    /// The names of all layers, and as many fields of attribute packets as fit into a line.
    package var line: String { (layers + completed).map(\.summary).joined(separator: " / ") }
}

extension DissectedLayer {
    fileprivate var summary: String {
        guard name.hasPrefix("ATT") else { return name }
        let fields = fields.dropFirst().map { "\($0.name) \($0.text)" }.joined(separator: ", ")
        return fields.isEmpty ? name : "\(name) (\(String(fields.prefix(80))))"
    }
}
