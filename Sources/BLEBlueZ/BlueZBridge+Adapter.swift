import BLEHost
import BLEWire
import DBus

extension BlueZBridge {
    /// Adds the object `/org/bluez` and the adapter's object, which exist as long as the bridge does.
    mutating func addAdapter() {
        let manager = { (name: String) in ObjectTree.Interface(name: name, properties: []) }
        tree.add("/org/bluez", [manager(BlueZ.agents)])
        let kind = adapter.address.kind == .public ? "public" : "random"
        let properties: [ObjectTree.Property] = [
            ("Address", .string(adapter.address.description)), ("AddressType", .string(kind)),
            ("Name", .string(adapter.alias)), ("Alias", .string(adapter.alias)), ("Class", .uint32(0)),
            ("Powered", .boolean(false)), ("PowerState", .string("off")), ("Discoverable", .boolean(false)),
            ("DiscoverableTimeout", .uint32(180)), ("Pairable", .boolean(true)), ("PairableTimeout", .uint32(0)),
            ("Discovering", .boolean(false)), ("UUIDs", .strings([])),
            ("Modalias", .string("usb:v1D6Bp0246d0542")),
            ("Roles", .strings(["central", "peripheral", "central-peripheral"])),
        ]
        let advertising: [ObjectTree.Property] = [
            ("ActiveInstances", .byte(0)), ("SupportedInstances", .byte(UInt8(Limit.advertisements))),
            ("SupportedIncludes", .strings(["tx-power", "appearance", "local-name"])),
            ("SupportedFeatures", .strings([])), ("SupportedCapabilities", Self.capabilities(isExtended: false)),
        ]
        let monitoring: [ObjectTree.Property] = [
            ("SupportedMonitorTypes", .strings(["or_patterns"])), ("SupportedFeatures", .strings([])),
        ]
        tree.add(
            adapterPath,
            [
                ObjectTree.Interface(name: BlueZ.adapter, properties: properties), manager(BlueZ.applications),
                ObjectTree.Interface(name: BlueZ.advertisements, properties: advertising),
                ObjectTree.Interface(name: BlueZ.monitors, properties: monitoring),
            ]
        )
    }

    /// Returns the value of `SupportedCapabilities`: the maximum lengths of an advertisement and a scan response.
    ///
    /// `isExtended` is true if the controller supports extended advertising.
    private static func capabilities(isExtended: Bool) -> BusValue {
        let lengths: [UInt8] = isExtended ? [245, 31] : [31, 31]
        return .properties(zip(["MaxAdvLen", "MaxScnRspLen"], lengths).map { ($0, .byte($1)) })
    }

    /// Sets the properties that depend on the features of the controller.
    mutating func setFeatures(_ features: HostFeatures) {
        let isExtended = features.contains(.extendedScanAndConnect), path = adapterPath
        tree.set(
            path,
            BlueZ.advertisements,
            "SupportedFeatures",
            .strings(isExtended ? ["CanSetTxPower", "HardwareOffload"] : [])
        )
        tree.set(path, BlueZ.advertisements, "SupportedCapabilities", Self.capabilities(isExtended: isExtended))
        let channels = isExtended ? BusValue.strings(["1M", "2M", "Coded"]) : nil
        tree.set(path, BlueZ.advertisements, "SupportedSecondaryChannels", channels)
    }

    mutating func setPowered(_ isOn: Bool) {
        tree.set(adapterPath, BlueZ.adapter, "Powered", .boolean(isOn))
        tree.set(adapterPath, BlueZ.adapter, "PowerState", .string(isOn ? "on" : "off"))
        guard !isOn else { return }
        for name in clients.keys where clients[name]?.isDiscovering == true { endDiscovery(of: name) }
    }

    var isPowered: Bool { tree.value(adapterPath, BlueZ.adapter, "Powered") == .boolean(true) }

    mutating func setDiscoverable(_ isOn: Bool) {
        discoverableUntil = nil
        tree.set(adapterPath, BlueZ.adapter, "Discoverable", .boolean(isOn))
        let timeout = tree.value(adapterPath, BlueZ.adapter, "DiscoverableTimeout")?.integer ?? 0
        if isOn, timeout > 0 { discoverableUntil = now + .seconds(timeout) }
    }

    mutating func setAdapter(_ name: String, _ value: BusValue, _ caller: Caller) throws(BlueZError) {
        guard value != tree.value(adapterPath, BlueZ.adapter, name) else { return }
        // Only administrators may change settings that affect the programs of all users.
        let user = clients[caller.sender]?.credentials?.user
        guard let user, adapter.administrators.contains(user) else { throw .notAuthorized }
        switch name {
        case "Powered": act(.power(isOn: value.flag ?? true))
        case "Alias":
            guard value.text?.utf8.count ?? 0 <= Limit.alias else { throw .invalidArguments }
            let text = value.text ?? ""
            tree.set(adapterPath, BlueZ.adapter, "Alias", .string(text.isEmpty ? adapter.alias : text))
        case "Discoverable": setDiscoverable(value.flag ?? false)
        case "DiscoverableTimeout":
            tree.set(adapterPath, BlueZ.adapter, name, value)
            if discoverableUntil != nil { setDiscoverable(true) }
        case "Pairable": guard value.flag == true else { throw .notSupported }
        default: guard value.integer == 0 else { throw .notSupported }
        }
    }

    mutating func answerAdapter(
        _ member: String,
        _ body: [BusValue],
        _ caller: Caller
    ) throws(BlueZError) -> [BusValue]? {
        switch member {
        case "StartDiscovery":
            guard isPowered else { throw .notReady }
            return try startDiscovery(caller)
        case "StopDiscovery":
            guard clients[caller.sender]?.isDiscovering == true else { throw .noDiscovery }
            endDiscovery(of: caller.sender)
            return []
        case "SetDiscoveryFilter":
            let filter = try DiscoveryFilter(body.first)
            let isDiscovering = clients[caller.sender]?.isDiscovering ?? false
            _ = clients.update(caller.sender) { $0.filter = filter }
            if isDiscovering { updateScan(of: caller.sender) }
            return []
        case "GetDiscoveryFilters": return [.strings(DiscoveryFilter.keys)]
        case "RemoveDevice":
            guard let path = body.first?.text, let peer = peers[path] else { throw .doesNotExist }
            return try removeDevice(peer, caller) ? [] : nil
        default:
            try connectDevice(body.first, caller)
            return nil
        }
    }

    private mutating func startDiscovery(_ caller: Caller) throws(BlueZError) -> [BusValue]? {
        guard clients[caller.sender]?.isDiscovering == false else { throw .inProgress }
        _ = clients.update(caller.sender) { $0.isDiscovering = true }
        updateScan(of: caller.sender)
        let key = SessionKey(caller.sender, .central)
        guard let state = sessions[key]?.state else {
            _ = sessions.update(key) { $0.starting.append(caller) }
            return nil
        }
        if let error = Self.error(for: state) {
            endDiscovery(of: caller.sender)
            throw error
        }
        return []
    }

    /// Starts, changes or stops a program's scan, as required by its discovery, monitors and searches.
    mutating func updateScan(of name: String) {
        guard let client = clients[name] else { return }
        let key = SessionKey(name, .central)
        if hasMonitors(name) || isSearching(name) {
            request(key, .scan(ScanRequest(allowsDuplicates: true)))
        } else if client.isDiscovering {
            request(key, .scan(client.filter.scan))
        } else if sessions[key] != nil {
            request(key, .stopScan)
        }
        let isDiscovering = clients.all.contains(where: \.isDiscovering)
        tree.set(adapterPath, BlueZ.adapter, "Discovering", .boolean(isDiscovering))
    }

    /// Ends a program's discovery; if no other program is discovering, removes `RSSI` and `TxPower` of all devices.
    mutating func endDiscovery(of name: String) {
        guard clients[name]?.isDiscovering == true else { return }
        _ = clients.update(name) { $0.isDiscovering = false }
        updateScan(of: name)
        guard !clients.all.contains(where: \.isDiscovering) else { return }
        reports = OrderedMap()
        reportTime = nil
        for device in devices.all {
            for property in ["RSSI", "TxPower"] { tree.set(device.path, BlueZ.device, property, nil) }
            _ = devices.update(device.peer) { $0.advertisedData = nil }
        }
        sweepTime = now + Self.deviceLifetime
    }
}
