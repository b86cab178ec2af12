package import BLERuntime
import BLEWire

/// A builder of ``CapturedDevice`` values from the packets of a capture, in the order in which they happened.
///
/// It accepts any octets. Everything that it stores has a limit, at which data is dropped.
///
/// A device is the server of ATT packets on a link. Reconnections to the same address belong to the same device.
package struct DeviceRecorder: Sendable {
    private static let mostDevices = 64
    private static let mostAddresses = 1_024

    private struct Link: Hashable, Sendable {
        let source: Int
        let handle: UInt16
    }

    private struct Key: Hashable, Sendable {
        let source: Int
        let address: String
        let isHost: Bool
    }

    private struct Request: Sendable {
        let packet: ATTPacket
        let device: Int
    }

    private var frames = LinkFrames()
    private var sources: [PacketSource: Int] = [:]
    /// The address of the peer of each link.
    private var peers: [Link: DeviceAddress] = [:]
    private var places: [Key: Int] = [:]
    private var tables: [AttributeTable] = []
    private var requests: [LinkFrames.Stream: Request] = [:]
    /// The advertisements, by the advertiser's address or, for a host's own advertisement, by its source.
    private var advertisements: [String: CapturedDevice.Advertisement] = [:]
    /// The data so far of advertisements that arrive in several reports, by address.
    private var fragments: [String: [UInt8]] = [:]

    package init() {}

    /// Returns the devices whose services were discovered in the capture, in the order of their first packets.
    package consuming func finish() -> [CapturedDevice] {
        let advertisements = advertisements
        return tables.map { $0.device(advertising: advertisements[$0.advertiser]) }.filter { !$0.services.isEmpty }
    }

    /// Adds an item of a capture.
    package mutating func add(_ item: CaptureReader.Item) {
        guard case .packet(let record) = item, record.missing == 0, !record.bytes.isEmpty else { return }
        let source = number(of: record.source), isFromHost = record.direction == .toController
        switch HCI.PacketType(wire: record.bytes[0]) {
        case .command: command(record.bytes, source)
        case .event:
            guard let event = try? HCIEventPacket(decoding: Array(record.bytes.dropFirst())) else { return }
            receive(event, source)
        case .acl:
            guard let frame = frames.add(record.bytes, source, isFromHost), frame.channel == 4,
                let packet = try? ATTPacket(decoding: frame.payload), let opcode = frame.payload.first
            else { return }
            let stream = LinkFrames.Stream(source: source, link: frame.link, isFromHost: isFromHost)
            exchange(packet, ATT.Opcode(wire: opcode), stream, at: record.time)
        default: return
        }
    }

    private mutating func number(of source: PacketSource) -> Int {
        if let known = sources[source] { return known }
        if sources.count >= Self.mostAddresses { return 0 }
        sources[source] = sources.count
        return sources.count - 1
    }

    private mutating func receive(_ event: HCIEventPacket, _ source: Int) {
        switch event {
        case .leConnectionComplete(let event) where event.status == .success:
            connected(Link(source: source, handle: event.handle.wire), event.peer)
        case .leEnhancedConnectionComplete(let event) where event.status == .success:
            connected(Link(source: source, handle: event.handle.wire), event.peer)
        case .disconnectionComplete(let event) where event.status == .success:
            peers[Link(source: source, handle: event.handle.wire)] = nil
            for isFromHost in [true, false] {
                requests[.init(source: source, link: event.handle.wire, isFromHost: isFromHost)] = nil
            }
        case .leAdvertisingReport(let event):
            for report in event.reports {
                change("\(report.address)") { seen in
                    if report.type == .scanResponse {
                        seen.scanResponse = report.data
                    } else {
                        (seen.data, seen.isConnectable) = (report.data, report.type.isConnectable)
                    }
                }
            }
        case .leExtendedAdvertisingReport(let event):
            for report in event.reports {
                let address = "\(report.address)", data = (fragments.removeValue(forKey: address) ?? []) + report.data
                guard report.type.dataStatus != .incomplete else {
                    if fragments.count >= Self.mostAddresses { fragments = [:] }
                    fragments[address] = Array(data.prefix(AdvertisingData.maximumExtendedLength))
                    continue
                }
                change(address) { seen in
                    if report.type.contains(.scanResponse) {
                        seen.scanResponse = data
                    } else {
                        (seen.data, seen.isConnectable) = (data, report.type.contains(.connectable))
                        seen.isLegacy = report.type.contains(.legacy)
                    }
                }
            }
        default: break
        }
    }

    private mutating func connected(_ link: Link, _ peer: DeviceAddress) {
        if peers.count >= Self.mostAddresses { peers = [:] }
        peers[link] = peer
    }

    /// Updates the host's advertisement if `bytes` is a command that sets its data, scan response or properties.
    ///
    /// Data that is set in several parts is ignored.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.7, 7.8.8, and 7.8.53 to 7.8.55.
    private mutating func command(_ bytes: [UInt8], _ source: Int) {
        guard let command = try? HCICommandPacket(decoding: Array(bytes.dropFirst())) else { return }
        let host = AttributeTable.advertiser(ofHost: source)
        switch command {
        case .leSetAdvertisingData(let command): change(host) { $0.data = command.data }
        case .leSetScanResponseData(let command): change(host) { $0.scanResponse = command.data }
        case .leSetExtendedAdvertisingParameters(let command):
            change(host) { seen in
                seen.isLegacy = command.properties.contains(.legacy)
                seen.isConnectable = command.properties.contains(.connectable)
            }
        case .leSetExtendedAdvertisingData(let command) where command.operation == .complete:
            change(host) { $0.data = command.data }
        case .leSetExtendedScanResponseData(let command) where command.operation == .complete:
            change(host) { $0.scanResponse = command.data }
        default: break
        }
    }

    private mutating func change(_ address: String, _ body: (inout CapturedDevice.Advertisement) -> Void) {
        guard advertisements.count < Self.mostAddresses || advertisements[address] != nil else { return }
        body(&advertisements[address, default: .init()])
    }

    private mutating func exchange(
        _ packet: ATTPacket,
        _ opcode: ATT.Opcode,
        _ stream: LinkFrames.Stream,
        at time: Instant
    ) {
        let role = AttributeNames.Role(of: opcode, on: stream)
        guard let device = table(stream, isHost: role.server.isHost) else { return }
        if role.isFromClient {
            if role.part == .request { requests[stream] = Request(packet: packet, device: device) }
            tables[device].request(packet, at: time)
        } else {
            let request = role.part == .response ? requests.removeValue(forKey: stream.reversed) : nil
            tables[device].response(packet, to: request?.device == device ? request?.packet : nil, at: time)
        }
    }

    private mutating func table(_ stream: LinkFrames.Stream, isHost: Bool) -> Int? {
        let address = peers[Link(source: stream.source, handle: stream.link)]
        let peer = address.map { "\($0)" } ?? "link \(stream.link)"
        let key = Key(source: stream.source, address: isHost ? "" : peer, isHost: isHost)
        if let known = places[key] { return known }
        guard tables.count < Self.mostDevices else { return nil }
        places[key] = tables.count
        let identity = isHost ? nil : address?.onAir
        tables.append(
            AttributeTable(source: stream.source, address: isHost ? "host" : peer, identity: identity, isHost: isHost)
        )
        return tables.count - 1
    }
}
