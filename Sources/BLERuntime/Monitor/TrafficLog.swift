package import BLEWire
package import Logging

/// A log of the traffic between apps, a host and its controller.
///
/// Apps' requests and events are logged if the level in ``Logging/Logger/levelVariable`` is `debug`. With the level
/// `trace`, each packet is decoded and logged as well, including the keys of pairings.
package struct TrafficLog: Sendable {
    /// The maximum number of machines whose packets can be reassembled at the same time.
    private static let mostMachines = 64

    private let logger: Logger
    private var traces: [(machine: String, trace: HCITrace)] = []

    /// Creates a log; returns `nil` if the level of `logger` is above `debug`.
    package init?(_ logger: Logger = .coreBluetooth) {
        guard logger.logLevel <= .debug else { return nil }
        self.logger = logger
    }

    /// Logs the text of an app's request or event.
    package func comment(_ text: String) { logger.debug("\(text)") }

    /// Logs a packet.
    ///
    /// `time` is put at the start of the line. Pass it if the packet's time is not the time at which it is logged, as
    /// in a simulated world.
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
    /// A line with the names of all layers, and the first 80 characters of the fields of each ATT packet.
    package var line: String { (layers + completed).map(\.summary).joined(separator: " / ") }
}

extension DissectedLayer {
    fileprivate var summary: String {
        guard name.hasPrefix("ATT") else { return name }
        let fields = fields.dropFirst().map { "\($0.name) \($0.text)" }.joined(separator: ", ")
        return fields.isEmpty ? name : "\(name) (\(String(fields.prefix(80))))"
    }
}
