import BLEHost
import BLEWire
import DBus

/// A remote device, and the sessions that are connected to it.
struct Device: Sendable {
    /// A call that waits until a session is connected to the device.
    enum Waiter: Sendable {
        case connect(Caller)
        case connectDevice(Caller)
        case pair(Caller)
        case operation(Caller, Operation)

        var caller: Caller {
            switch self {
            case .connect(let caller), .connectDevice(let caller), .pair(let caller), .operation(let caller, _): caller
            }
        }
    }

    /// A call to `Disconnect`, and the sessions whose connections must end before it is answered.
    struct Ending: Sendable {
        let caller: Caller
        var keys: [BlueZBridge.SessionKey]
    }

    let peer: PeerIdentifier
    let path: String
    var address: DeviceAddress
    /// The sessions that are connected to the device.
    var links: [BlueZBridge.SessionKey] = []
    /// The calls that wait until a session is connected to the device, by session.
    var connecting = OrderedMap<BlueZBridge.SessionKey, [Waiter]>()
    /// The calls to `Connect` that wait until the services are known.
    var awaitingServices: [Caller] = []
    /// The calls to `Disconnect` that have not been answered.
    var ending: [Ending] = []
    /// The unanswered calls to `Pair`, by the bus name of the calling program.
    var pairing = OrderedMap<String, Caller>()
    var database = RemoteDatabase()
    var mtu = 23
    var lastSeen = Instant()
    /// The time at which the property `RSSI` was last sent to programs.
    var strengthTime = Instant()
    /// The data of the advertisement from which the properties were computed last; `nil` if they must be computed from
    /// the next one.
    var advertisedData: AdvertisementOctets?
    var isBonded = false
    /// The IDs of the users whose programs have set the property `Trusted`.
    var trustingUsers: [UInt32] = []
}

extension BlueZBridge {
    /// A call to `RemoveDevice` that waits until a list of bonds shows whether the bond was removed.
    struct Removal: Sendable {
        let caller: Caller
        let peer: PeerIdentifier
        /// True once the daemon has processed the request to remove the bond.
        var isProcessed = false
    }

    func device(at path: String) -> Device? { peers[path].flatMap { devices[$0] } }

    /// Adds the object of a device unless it exists.
    ///
    /// Returns false if there are too many devices that must be kept, or if another device that must be kept has an
    /// object at the same path.
    mutating func addDevice(
        _ peer: PeerIdentifier,
        _ address: DeviceAddress,
        name: String?,
        _ facts: [ObjectTree.Property] = [],
        services: [BluetoothUUID] = []
    ) -> Bool {
        guard devices[peer] == nil else { return true }
        let text = address.description
        let path = adapterPath + "/dev_" + Self.address(text, separatedBy: "_")
        // The path does not contain the type of the address, so a public and a random address can have the same path.
        if let other = device(at: path) {
            guard !isKept(other) else { return false }
            forget(other.peer)
        }
        if devices.count >= Limit.devices {
            let unused = devices.all.filter { !isInUse($0) }, untrusted = unused.filter(\.trustingUsers.isEmpty)
            // Every user can trust all devices, so trusted ones are replaced if there are no others.
            let oldest = (untrusted.isEmpty ? unused : untrusted).min { $0.lastSeen < $1.lastSeen }
            guard let oldest else { return false }
            forget(oldest.peer)
        }
        var device = Device(peer: peer, path: path, address: address)
        device.lastSeen = now
        device.strengthTime = now
        devices[peer] = device
        peers[path] = peer
        var properties: [ObjectTree.Property] = [
            ("Address", .string(text)), ("AddressType", .string(address.onAir.kind == .public ? "public" : "random")),
            ("Alias", .string(name ?? Self.address(text, separatedBy: "-"))), ("Paired", .boolean(false)),
            ("Bonded", .boolean(false)), ("Trusted", .boolean(false)), ("Blocked", .boolean(false)),
            ("LegacyPairing", .boolean(false)), ("Connected", .boolean(false)),
            ("UUIDs", .strings(services.map(\.inFull))), ("Adapter", .path(adapterPath)),
            ("ServicesResolved", .boolean(false)), ("WakeAllowed", .boolean(false)),
        ]
        if let name { properties.append(("Name", .string(name))) }
        tree.add(path, [ObjectTree.Interface(name: BlueZ.device, properties: properties + facts)])
        return true
    }

    /// Returns the text of an address with `separator` in place of colons, 20 times as fast as `replacing` would.
    private static func address(_ text: String, separatedBy separator: Unicode.Scalar) -> String {
        let octets = text.utf8.map { $0 == UInt8(ascii: ":") ? UInt8(ascii: separator) : $0 }
        return String(decoding: octets, as: UTF8.self)
    }

    private func isInUse(_ device: Device) -> Bool {
        device.isBonded || !device.links.isEmpty || !device.connecting.isEmpty
    }

    private func isKept(_ device: Device) -> Bool { isInUse(device) || !device.trustingUsers.isEmpty }

    /// Returns true if the user of a program, or an administrator, trusts a device.
    func isTrusted(_ device: Device, by client: String) -> Bool {
        let user = clients[client]?.credentials?.user
        return device.trustingUsers.contains { $0 == user || adapter.administrators.contains($0) }
    }

    /// Records whether the caller's user trusts a device; if an administrator no longer trusts it, no user does.
    ///
    /// The property `Trusted` is true while any user trusts the device.
    private mutating func setTrusted(_ device: Device, _ isTrusted: Bool, _ caller: Caller) throws(BlueZError) {
        guard let user = clients[caller.sender]?.credentials?.user else { throw .notAuthorized }
        var users = device.trustingUsers.filter { $0 != user }
        if isTrusted {
            guard users.count < Limit.trustingUsers else { throw .limitReached }
            users.append(user)
        } else if adapter.administrators.contains(user) {
            users = []
        }
        _ = devices.update(device.peer) { $0.trustingUsers = users }
        tree.set(device.path, BlueZ.device, "Trusted", .boolean(!users.isEmpty))
    }

    /// Removes the devices that have not advertised for ``deviceLifetime`` and need not be kept, unless a program is
    /// discovering.
    mutating func removeOldDevices() {
        sweepTime = nil
        guard !clients.all.contains(where: \.isDiscovering) else { return }
        for device in devices.all where !isKept(device) && !removals.contains(where: { $0.peer == device.peer }) {
            if device.lastSeen + Self.deviceLifetime <= now {
                forget(device.peer)
            } else {
                sweepTime = min(sweepTime ?? .init(nanoseconds: .max), device.lastSeen + Self.deviceLifetime)
            }
        }
    }

    mutating func forget(_ peer: PeerIdentifier) {
        guard let device = devices[peer] else { return }
        devices[peer] = nil
        reports[peer] = nil
        peers[device.path] = nil
        tree.remove(device.path)
    }

    /// Removes a device, its bond and its connections, if the caller may end all these connections.
    ///
    /// Returns false if the caller must wait for the daemon to remove the bond; the reply then follows later.
    mutating func removeDevice(_ peer: PeerIdentifier, _ caller: Caller) throws(BlueZError) -> Bool {
        guard let device = devices[peer] else { throw .doesNotExist }
        let keys = device.links + device.connecting.keys
        guard keys.allSatisfy({ mayEnd($0, caller) }) else { throw .notAuthorized }
        guard !removals.contains(where: { $0.peer == peer }) else { throw .inProgress }
        if device.isBonded { try check(SessionKey(caller.sender, .agent)) }
        for key in keys {
            request(key, .cancelConnection(peer))
            disconnected(peer, by: key)
        }
        guard device.isBonded else {
            forget(peer)
            return true
        }
        removals.append(Removal(caller: caller, peer: peer))
        request(SessionKey(caller.sender, .agent), .security(.removeBond(peer)))
        return false
    }

    /// Processes a received advertisement.
    mutating func receive(_ report: AdvertisementReport, of key: SessionKey) {
        guard let client = clients[key.client] else { return }
        // A program that may not learn addresses gets no objects, because their paths contain addresses.
        guard report.address != .none else { return endSearches(of: key.client, .notAuthorized) }
        guard report.address.kind != .anonymous else { return }
        let isSought = searches.contains { $0.matches(report, of: key.client) }
        let isFound = client.isDiscovering && client.filter.admits(report)
        let structures =
            hasMonitors(key.client) ? MergedAdvertisement(report.octets).structures.structures : []
        let isMonitored = matchMonitors(structures, of: key.client)
        guard isFound || isMonitored || isSought else { return }
        if devices[report.peer] == nil {
            let merged = MergedAdvertisement(report.octets)
            var facts = AdvertisedProperties.list(of: report)
            // The signal strength is known only to discovery and monitors.
            if !isFound, !isMonitored { facts.removeAll { ["RSSI", "TxPower"].contains($0.name) } }
            guard addDevice(report.peer, report.address, name: report.name, facts, services: merged.serviceUUIDs) else {
                return finishSearches(for: report, of: key.client, .limitReached)
            }
            if isFound || isMonitored { _ = devices.update(report.peer) { $0.advertisedData = report.octets } }
        } else if isFound || isMonitored {
            _ = devices.update(report.peer) { $0.lastSeen = now }
            reports[report.peer] = report
            if reportTime == nil { reportTime = now + Self.reportPeriod }
        }
        if isMonitored { reportFound(report, structures, to: key.client) }
        if isSought { finishSearches(for: report, of: key.client) }
    }

    /// Signals the latest advertisement of each device in ``BlueZBridge/reports``; if the bus is congested, tries again
    /// later.
    mutating func flushReports() {
        reportTime = isCongested ? now + Self.reportPeriod : nil
        guard !isCongested else { return }
        let latest = reports.all
        reports = OrderedMap()
        let wantsDuplicates = clients.all.contains { $0.isDiscovering && $0.filter.duplicates }
        let wantsStrength = clients.all.contains { $0.isDiscovering && $0.filter.isAboutStrength }
        for report in latest {
            guard let device = devices[report.peer] else { continue }
            let path = device.path, isSameData = device.advertisedData == report.octets && !wantsDuplicates
            let properties =
                isSameData ? AdvertisedProperties.strength(of: report) : AdvertisedProperties.list(of: report)
            for (name, value) in properties {
                if name == "RSSI" {
                    guard wantsDuplicates || wantsStrength || isNews(value, of: device) else { continue }
                    _ = devices.update(report.peer) { $0.strengthTime = now }
                }
                let isData = name == "ManufacturerData" || name == "ServiceData"
                tree.set(path, BlueZ.device, name, value, isForced: name == "RSSI" || isData && wantsDuplicates)
            }
            if let name = report.name { rename(path, name) }
            guard !isSameData else { continue }
            addServices(MergedAdvertisement(report.octets).serviceUUIDs, to: path)
            _ = devices.update(report.peer) { $0.advertisedData = report.octets }
        }
    }

    /// Returns whether to signal a device's new RSSI (`strength`) now.
    ///
    /// True if the RSSI has changed by at least ``BlueZBridge/strengthStep``, was last sent at least
    /// ``BlueZBridge/strengthPeriod`` ago, or was unknown.
    private func isNews(_ strength: BusValue, of device: Device) -> Bool {
        guard now - device.strengthTime < Self.strengthPeriod, let new = strength.integer,
            let old = tree.value(device.path, BlueZ.device, "RSSI")?.integer
        else { return true }
        return abs(new - old) >= Self.strengthStep
    }

    /// Adds services to the property `UUIDs` of a device.
    mutating func addServices(_ services: [BluetoothUUID], to path: String) {
        guard !services.isEmpty else { return }
        let known = tree.value(path, BlueZ.device, "UUIDs")?.elements?.compactMap(\.text) ?? []
        let added = services.map(\.inFull).filter { !known.contains($0) }
        guard !added.isEmpty, known.count + added.count <= Limit.attributes else { return }
        tree.set(path, BlueZ.device, "UUIDs", .strings((known + added).sorted()))
    }

    /// Sets the name of a device, and its alias unless a program has chosen another alias.
    mutating func rename(_ path: String, _ name: String) {
        let old = tree.value(path, BlueZ.device, "Name")
        guard old?.text != name else { return }
        let alias = tree.value(path, BlueZ.device, "Alias")
        let address = tree.value(path, BlueZ.device, "Address")?.text.map { Self.address($0, separatedBy: "-") }
        tree.set(path, BlueZ.device, "Name", .string(name))
        if alias == old || alias?.text == address { tree.set(path, BlueZ.device, "Alias", .string(name)) }
    }

    mutating func setDevice(
        _ path: String,
        _ name: String,
        _ value: BusValue,
        _ caller: Caller
    ) throws(BlueZError) {
        switch name {
        case "Trusted":
            guard let device = device(at: path) else { throw .doesNotExist }
            try setTrusted(device, value.flag == true, caller)
        case "Alias":
            guard value.text?.utf8.count ?? 0 <= Limit.alias else { throw .invalidArguments }
            let fallback = tree.value(path, BlueZ.device, "Name") ?? tree.value(path, BlueZ.device, "Address")
            tree.set(path, BlueZ.device, name, value.text == "" ? fallback : value)
        case "Blocked": guard value.flag == false else { throw .notSupported }
        default: tree.set(path, BlueZ.device, name, value)
        }
    }

    mutating func answerDevice(_ member: String, _ path: String, _ caller: Caller) throws(BlueZError) -> [BusValue]? {
        guard let device = device(at: path) else { throw .doesNotExist }
        switch member {
        case "Connect", "ConnectProfile":
            try connect(device.peer, for: .connect(caller))
            return nil
        case "Disconnect", "DisconnectProfile":
            try disconnect(device, caller)
            return nil
        case "Pair":
            guard !device.isBonded else { throw .alreadyExists }
            guard device.pairing[caller.sender] == nil else { throw .inProgress }
            try connect(device.peer, for: .pair(caller))
            return nil
        default:
            guard device.pairing[caller.sender] != nil else { throw .doesNotExist }
            request(SessionKey(caller.sender, .agent), .security(.answer(device.peer, .cancel)))
            return []
        }
    }
}
