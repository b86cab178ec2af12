import BLEController
import BLEHost
import BLEWire

/// Two connected hosts, each of which can be fed the packets that the other would send.
///
/// The peripheral's app serves one characteristic to read, one to write and one that notifies. The central has
/// discovered all of them, and subscribed.
struct AttributeBench: ~Copyable {
    private static let client = ClientID(rawValue: 1)

    private var pair: HostPair
    private var centralFeed: HostFeed
    private var peripheralFeed: HostFeed
    private let peer: PeerIdentifier
    private let handles: [BluetoothUUID: AttributeHandle]
    /// The number of values that are in flight or wait for a buffer of the controller when the workload begins.
    private let waiting: Int

    /// Connects the two hosts.
    ///
    /// Before that, connects the measured host to as many other peers as `surroundings` require. `asCentral` is true if
    /// the host of the central is measured.
    init(among surroundings: MicroSurroundings, asCentral: Bool) {
        let others = surroundings.links - 1
        var pair = HostPair(profile: .core5, others: others)
        pair.open(.central, Self.client, on: .central)
        pair.open(.peripheral, Self.client, on: .peripheral)
        pair.run(for: .seconds(1))
        if surroundings.characteristics > 3 {
            let more = Self.moreCharacteristics(surroundings.characteristics - 3)
            pair.perform(.service(.addService(more)), for: Self.client, on: .peripheral)
        }
        pair.perform(.service(.addService(PeerService.definition)), for: Self.client, on: .peripheral)
        for number in 0..<others { pair.open(asCentral ? .peripheral : .central, Self.client, on: .other(number)) }
        pair.run(for: .milliseconds(100))
        for number in 0..<others {
            let central = asCentral ? HostPair.Side.central : .other(number)
            let peripheral = asCentral ? HostPair.Side.other(number) : .peripheral
            _ = pair.meet(Self.client, central: central, peripheral: peripheral)
        }
        let peer = pair.meet(Self.client, central: .central, peripheral: .peripheral)
        let discovery = PeerRequest.discoverCharacteristics(in: .all, only: [])
        pair.perform(.peer(peer, discovery), for: Self.client, on: .central)
        pair.run(for: .seconds(5))
        let found: [DiscoveredCharacteristic] = pair.first { event in
            if case .peer(_, .characteristicsDiscovered(_, .success(let found)), _) = event { found } else { nil }
        }
        for output in found where output.uuid == PeerService.notified {
            let range = AttributeHandleRange(output.value, output.end)?.after(output.value)
            let request = PeerRequest.subscribe(.notifications, to: output.value, in: range)
            pair.perform(.peer(peer, request), for: Self.client, on: .central)
        }
        pair.run(for: .seconds(5))
        Self.wait(for: surroundings.pending, in: &pair)
        self.peer = peer
        waiting = surroundings.waiting
        handles = Dictionary(found.map { ($0.uuid, $0.value) }) { first, _ in first }
        centralFeed = HostFeed(client: Self.client, link: pair.lastData[.central] ?? [], now: pair.now)
        peripheralFeed = HostFeed(client: Self.client, link: pair.lastData[.peripheral] ?? [], now: pair.now)
        self.pair = pair
    }

    /// Runs turns of `batch` operations each; returns the number of completed operations.
    mutating func run(_ workload: MicroWorkload, turns: Int, batch: Int) -> Int {
        let incoming = incoming(workload), outgoing = outgoing(workload)
        if waiting > 0 { leaveWaiting(outgoing, of: workload) }
        var done = 0
        for _ in 0..<turns {
            switch workload {
            case .advertisement: break
            case .readServed, .writeServed:
                done += peripheralFeed.serve(incoming, by: &pair.peripheral, value: PeerService.value)
            case .writeCommandServed: done += peripheralFeed.hear(incoming, batch, by: &pair.peripheral)
            case .notificationSent where waiting > 0:
                done += peripheralFeed.sayBehind(outgoing, batch, to: &pair.peripheral)
            case .writeCommand where waiting > 0: done += centralFeed.sayBehind(outgoing, batch, to: &pair.central)
            case .notificationSent: done += peripheralFeed.say(outgoing, batch, to: &pair.peripheral)
            case .notificationReceived: done += centralFeed.hear(incoming, batch, by: &pair.central)
            case .read, .write: done += centralFeed.ask(outgoing, answer: incoming, of: &pair.central)
            case .writeCommand: done += centralFeed.say(outgoing, batch, to: &pair.central)
            }
        }
        return done
    }

    /// Sends ``waiting`` values without returning their buffers; those for which no buffer is free wait.
    private mutating func leaveWaiting(_ request: ClientRequest, of workload: MicroWorkload) {
        switch workload {
        case .notificationSent: peripheralFeed.leave(request, waiting, with: &pair.peripheral)
        case .writeCommand: centralFeed.leave(request, waiting, with: &pair.central)
        case .advertisement, .readServed, .writeServed, .writeCommandServed, .notificationReceived, .read, .write: break
        }
    }

    /// Runs one more turn; returns whether it produces exactly the right events and packets.
    mutating func isRight(_ workload: MicroWorkload, batch: Int) -> Bool {
        let isOfCentral = workload.isOfCentral
        if isOfCentral { centralFeed.kept = ([], []) } else { peripheralFeed.kept = ([], []) }
        _ = run(workload, turns: 1, batch: batch)
        guard let kept = isOfCentral ? centralFeed.kept : peripheralFeed.kept else { return false }
        let pdu = sentPDU(workload)
        let packet = pdu.isEmpty ? [] : isOfCentral ? centralFeed.sentPacket(pdu) : peripheralFeed.sentPacket(pdu)
        let count = workload == .writeCommandServed || workload == .notificationReceived ? 0 : batch
        return kept.packets == Array(repeatElement(packet, count: count).joined())
            && kept.outputs.allSatisfy { isRight($0, of: workload) } && !(kept.outputs.isEmpty && packet.isEmpty)
    }

    /// Returns whether `output` is a correct event for the workload.
    private func isRight(_ output: Host.Output, of workload: MicroWorkload) -> Bool {
        switch (workload, output) {
        case (.readServed, .event(.server(.readRequested), _)), (.notificationSent, .event(.server(.updatesTaken), _)),
            (.writeCommand, .event(.peer(_, .writeCommandsTaken, _), _)),
            (.write, .event(.peer(_, .valueWritten(_, nil), _), _)):
            true
        case (.writeServed, .event(.server(.writeRequested(_, _, let parts)), _)),
            (.writeCommandServed, .event(.server(.writeRequested(_, _, let parts)), _)):
            parts.map(\.value) == [PeerService.value]
        case (.notificationReceived, .event(.peer(_, .valueNotified(_, let value), _), _)),
            (.read, .event(.peer(_, .valueRead(_, .success(let value)), _), _)):
            value == PeerService.value
        default: false
        }
    }

    /// Returns the PDU that the host sends for each operation; empty if it sends none.
    private func sentPDU(_ workload: MicroWorkload) -> [UInt8] {
        switch workload {
        case .readServed: [0x0B] + PeerService.value
        case .writeServed: [0x13]
        case .notificationSent: [0x1B] + octets(of: PeerService.notified) + PeerService.value
        case .read: [0x0A] + octets(of: PeerService.readable)
        case .write: [0x12] + octets(of: PeerService.writable) + PeerService.value
        case .writeCommand: [0x52] + octets(of: PeerService.writable) + PeerService.value
        case .advertisement, .writeCommandServed, .notificationReceived: []
        }
    }

    /// Returns the packet that the peer sends for each operation.
    private func incoming(_ workload: MicroWorkload) -> [UInt8] {
        let pdu: [UInt8] =
            switch workload {
            case .readServed: [0x0A] + octets(of: PeerService.readable)
            case .writeServed: [0x12] + octets(of: PeerService.writable) + PeerService.value
            case .writeCommandServed: [0x52] + octets(of: PeerService.writable) + PeerService.value
            case .notificationReceived: [0x1B] + octets(of: PeerService.notified) + PeerService.value
            case .read: [0x0B] + PeerService.value
            case .write: [0x13]
            case .advertisement, .notificationSent, .writeCommand: []
            }
        return workload.isOfCentral ? centralFeed.packet(pdu) : peripheralFeed.packet(pdu)
    }

    /// Returns the request that the app makes for each operation; not used for workloads in which it makes none.
    private func outgoing(_ workload: MicroWorkload) -> ClientRequest {
        switch workload {
        case .read: .peer(peer, .read(handle(of: PeerService.readable)))
        case .write: .peer(peer, .write(handle(of: PeerService.writable), PeerService.value))
        case .writeCommand: .peer(peer, .writeCommand(handle(of: PeerService.writable), PeerService.value))
        case .advertisement, .readServed, .writeServed, .writeCommandServed, .notificationSent, .notificationReceived:
            .service(.update(PeerService.notifiedID, PeerService.value, to: nil))
        }
    }

    private func handle(of uuid: BluetoothUUID) -> AttributeHandle { handles[uuid] ?? .none }
    private func octets(of uuid: BluetoothUUID) -> [UInt8] { handle(of: uuid).wire.littleEndianOctets }

    /// Makes the central's app request connections to `count` peers that have advertised once, and that do not respond.
    private static func wait(for count: Int, in pair: inout HostPair) {
        guard count > 0 else { return }
        pair.perform(.scan(ScanRequest()), for: client, on: .central)
        let addresses = (1...count).map { DeviceAddress(0xF0_0000_0000 + UInt64($0), .public) }
        for address in addresses {
            let report = HCI.LEExtendedAdvertisingReport.Report(
                type: [.connectable, .legacy],
                address: address,
                rssi: RSSI(dBm: -50),
                data: []
            )
            let event = HCIEventPacket.leExtendedAdvertisingReport(.init(reports: [report]))
            pair.feed(event.encoded, to: .central)
        }
        pair.perform(.stopScan, for: client, on: .central)
        for address in addresses {
            let peer: PeerIdentifier = pair.first { event in
                if case .discovered(let report) = event, report.address == address { report.peer } else { nil }
            }
            pair.perform(.connect(peer, ConnectRequest()), for: client, on: .central)
        }
    }

    private static func moreCharacteristics(_ count: Int) -> ServiceDefinition {
        ServiceDefinition(
            id: LocalAttributeID(rawValue: 100),
            uuid: .short(0xBF00),
            characteristics: (1...count).map { number in
                .init(
                    id: .init(rawValue: 100 + UInt32(number)),
                    uuid: .short(0xBF01),
                    properties: .notify,
                    permissions: []
                )
            }
        )
    }
}
