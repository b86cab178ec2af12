import BLEWire

/// Decides which client hears of which advertisement.
///
/// Every client that scans has its own filter and its own memory of whom it has heard. An advertisement that may be
/// followed by a scan response waits a moment for it, so that clients hear of both at once; if the response comes
/// later, clients that heard of the advertisement alone hear of it again.
///
/// Core 6.0, Vol 3, Part C, 9.2.6.
struct Discovery {
    /// How long an advertisement waits for its scan response, which follows it on the air within a millisecond.
    static let patience = Duration.milliseconds(10)

    /// Something that clients are to hear of.
    struct Finding {
        let clients: [ClientID]
        let address: DeviceAddress
        let isConnectable: Bool
        let rssi: RSSI
        /// The advertising data, and those of the scan response after them.
        let data: [UInt8]
        /// How many octets of them are the advertisement's own.
        let advertisementLength: Int
        let packet: AdvertisementPacket
    }

    fileprivate enum Heard { case advertisement, everything }

    fileprivate struct Session {
        let client: ClientID
        let request: ScanRequest
        var phase: AppPhase
        var heard: BoundedMap<DeviceAddress, Heard>

        /// Whether every advertisement is told of.
        var allowsDuplicates: Bool { request.allowsDuplicates && phase == .foreground }

        /// Whether whoever advertises is told of, whatever it offers.
        var isOpen: Bool { request.services.isEmpty && request.solicitedServices.isEmpty }
    }

    fileprivate struct Sighting {
        var advertisement: Advertisement
        var response: [UInt8]?
        /// The number under which this waits for its response, if it does.
        var ticket: UInt64?

        /// Whether nothing more follows.
        var isComplete: Bool { response != nil || !advertisement.isScannable }
    }

    private struct Ticket {
        let number: UInt64
        let address: DeviceAddress
        let due: Instant
    }

    private var sessions: [Session] = []
    private var sightings: BoundedMap<DeviceAddress, Sighting>
    private var waiting = Fifo<Ticket>()
    private var tickets: UInt64 = 0
    private let limits: Limits

    init(limits: Limits) {
        self.limits = limits
        sightings = BoundedMap(capacity: limits.sightings)
    }

    /// Whether anybody scans.
    var isWanted: Bool { !sessions.isEmpty }

    /// Whether some client wants to hear of every advertisement.
    var wantsDuplicates: Bool { sessions.contains(where: \.allowsDuplicates) }

    /// When to call ``expire(at:)``, if nothing happens before.
    var deadline: Instant? { waiting.first?.due }

    /// A client scans, or scans anew with other parameters: it has heard of nobody yet.
    mutating func start(_ request: ScanRequest, for client: ClientID, in phase: AppPhase = .foreground) {
        stop(client)
        let heard = BoundedMap<DeviceAddress, Heard>(capacity: limits.sightings)
        let index = sessions.firstIndex { $0.client > client } ?? sessions.endIndex
        sessions.insert(Session(client: client, request: request, phase: phase, heard: heard), at: index)
    }

    /// The app of a client is used in another way.
    mutating func move(_ client: ClientID, to phase: AppPhase) {
        for index in sessions.indices where sessions[index].client == client { sessions[index].phase = phase }
    }

    mutating func stop(_ client: ClientID) {
        sessions.removeAll { $0.client == client }
        if sessions.isEmpty { forget() }
    }

    /// Nobody scans any more.
    mutating func stopAll() {
        sessions.removeAll()
        forget()
    }

    private mutating func forget() {
        waiting.removeAll()
        sightings.removeAll()
    }

    /// Takes what the controller heard, and returns what clients hear of now.
    mutating func receive(_ advertisement: Advertisement, at now: Instant) -> [Finding] {
        guard isWanted else { return [] }
        let address = advertisement.address
        if advertisement.isScanResponse { return respond(advertisement) }
        guard advertisement.isScannable else {
            return finding(of: Sighting(advertisement: advertisement))
        }
        guard !sessions.allSatisfy({ !$0.allowsDuplicates && $0.heard.peek(address) == .everything }) else {
            return []
        }
        var findings: [Finding] = []
        if let earlier = sightings[address], earlier.ticket != nil { findings = finding(of: earlier) }
        tickets += 1
        sightings[address] = Sighting(advertisement: advertisement, ticket: tickets)
        waiting.append(Ticket(number: tickets, address: address, due: now + Self.patience))
        if waiting.count > limits.waitingReports, let oldest = waiting.popFirst() { findings += redeem(oldest) }
        dropUsedTickets()
        return findings
    }

    /// Returns what clients hear of although no scan response came.
    mutating func expire(at now: Instant) -> [Finding] {
        var findings: [Finding] = []
        while let ticket = waiting.first, ticket.due <= now {
            _ = waiting.popFirst()
            findings += redeem(ticket)
        }
        dropUsedTickets()
        return findings
    }

    private mutating func respond(_ response: Advertisement) -> [Finding] {
        guard var sighting = sightings[response.address] else { return [] }
        sighting.response = response.data
        sighting.advertisement.rssi = response.rssi
        sighting.ticket = nil
        sightings[response.address] = sighting
        dropUsedTickets()
        return finding(of: sighting)
    }

    private mutating func redeem(_ ticket: Ticket) -> [Finding] {
        guard var sighting = sightings[ticket.address], sighting.ticket == ticket.number else { return [] }
        sighting.ticket = nil
        sightings[ticket.address] = sighting
        return finding(of: sighting)
    }

    private mutating func dropUsedTickets() {
        while let ticket = waiting.first, sightings[ticket.address]?.ticket != ticket.number {
            _ = waiting.popFirst()
        }
    }

    /// What clients hear of this, if any does.
    private mutating func finding(of sighting: Sighting) -> [Finding] {
        let advertisement = sighting.advertisement
        let data = sighting.response.map { advertisement.data + $0 } ?? advertisement.data
        var services: AdvertisedServices?
        var clients: [ClientID] = []
        for index in sessions.indices where sessions[index].hears(sighting, data, &services) {
            clients.append(sessions[index].client)
        }
        guard !clients.isEmpty else { return [] }
        let finding = Finding(
            clients: clients,
            address: advertisement.address,
            isConnectable: advertisement.isConnectable,
            rssi: advertisement.rssi,
            data: data,
            advertisementLength: advertisement.data.count,
            packet: advertisement.packet
        )
        return [finding]
    }
}

extension Discovery.Session {
    /// Whether the client hears of this now, which it then has.
    ///
    /// - Parameters:
    ///   - sighting: What was heard.
    ///   - data: All the data of it.
    ///   - services: What the data say of services, once somebody has asked.
    /// - Returns: Whether it is to be told.
    fileprivate mutating func hears(
        _ sighting: Discovery.Sighting,
        _ data: [UInt8],
        _ services: inout AdvertisedServices?
    ) -> Bool {
        switch phase {
        case .suspended: return false
        case .background: if isOpen { return false }
        case .foreground: break
        }
        let address = sighting.advertisement.address
        if !allowsDuplicates {
            switch heard[address] {
            case .everything: return false
            case .advertisement: guard sighting.response?.isEmpty == false else { return false }
            case nil: break
            }
        }
        guard request.admits(sighting.advertisement.rssi, data) else { return false }
        if !isOpen {
            let advertised = services ?? AdvertisedServices(data)
            services = advertised
            guard advertised.matches(request) else { return false }
        }
        if !allowsDuplicates { heard[address] = sighting.isComplete ? .everything : .advertisement }
        return true
    }
}

extension ScanRequest {
    /// Whether the signal is strong enough, and the name the right one, if either matters.
    fileprivate func admits(_ rssi: RSSI, _ data: [UInt8]) -> Bool {
        if let minimumRSSI, rssi.dBm.map({ $0 < minimumRSSI }) ?? true { return false }
        guard let namePrefix else { return true }
        return AdvertisingData(decoding: data).localName?.hasPrefix(namePrefix) ?? false
    }
}

/// The services that somebody advertises, for the filters of clients.
private struct AdvertisedServices {
    private let offered: [BluetoothUUID]
    private let solicited: [BluetoothUUID]
    private let overflow: OverflowArea?

    init(_ bytes: [UInt8]) {
        let data = AdvertisingData(decoding: bytes)
        offered = data.serviceUUIDs
        solicited = data.solicitedServiceUUIDs
        overflow = OverflowArea(in: data)
    }

    /// Whether a client that asked for `request` wants to hear of this.
    ///
    /// A filter of solicited services alone lets nobody through by other services.
    func matches(_ request: ScanRequest) -> Bool {
        if request.services.contains(where: { offered.contains($0) || overflow?.contains($0) == true }) { return true }
        return request.solicitedServices.contains { solicited.contains($0) }
    }
}
