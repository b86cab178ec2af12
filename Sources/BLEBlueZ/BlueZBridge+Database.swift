import BLEHost
import BLEWire
import DBus

extension BlueZBridge {
    /// Starts to discover a device's services with their characteristics and descriptors.
    ///
    /// Answers to the session's earlier requests for a discovery no longer count.
    mutating func discoverDatabase(of peer: PeerIdentifier, by key: SessionKey) {
        _ = sessions.update(key) { session in
            session.requests.removeAll { $0.peer == peer && $0.purpose.isDiscovery }
        }
        var database = RemoteDatabase()
        database.state = .discovering(1)
        database.discoverer = key
        _ = devices.update(peer) { $0.database = database }
        modaliasReads[peer] = nil
        request(key, peer, .discoverServices(only: []), for: .services)
    }

    /// Removes the objects of a device's services, and closes the pipes of their characteristics.
    ///
    /// Calls that wait for a subscription are refused; so are calls that need a connection first to use an attribute.
    /// Their handles may belong to other attributes later.
    mutating func removeDatabase(of peer: PeerIdentifier) {
        guard let device = devices[peer] else { return }
        refuseSubscriptions(at: peer)
        refuseOperations(at: peer)
        tree.set(device.path, BlueZ.device, "ServicesResolved", .boolean(false))
        for characteristic in device.database.characteristics.all {
            for pipe in [characteristic.notifyPipe, characteristic.writePipe] { pipe.map { closePipe($0) } }
        }
        for name in clients.keys {
            for path in clients[name]?.values.keys ?? [] where path.hasPrefix(device.path + "/") {
                _ = clients.update(name) { $0.values[path] = nil }
            }
        }
        for child in tree.children(of: device.path) { tree.remove(device.path + "/" + child) }
        _ = devices.update(peer) { $0.database = RemoteDatabase() }
        modaliasReads[peer] = nil
    }

    /// Refuses the calls that wait for a subscription, and removes the object paths from those that wait for a value.
    private mutating func refuseSubscriptions(at peer: PeerIdentifier) {
        for key in sessions.keys {
            for number in sessions[key]?.requests.keys ?? [] {
                guard let record = sessions[key]?.requests[number], record.peer == peer else { continue }
                if record.purpose.isSubscription {
                    _ = sessions.update(key) { $0.requests[number] = nil }
                    if let caller = record.purpose.caller { refuse(caller, .doesNotExist) }
                } else if case .read(let caller, _, let offset) = record.purpose {
                    _ = sessions.update(key) { session in
                        session.requests.update(number) { $0.purpose = .read(caller, path: nil, offset: offset) }
                    }
                }
            }
        }
    }

    /// Refuses the calls that wait for a connection before they use an attribute.
    private mutating func refuseOperations(at peer: PeerIdentifier) {
        guard let connecting = devices[peer]?.connecting else { return }
        for key in connecting.keys {
            for case .operation(let caller, _) in connecting[key] ?? [] { refuse(caller, .doesNotExist) }
            _ = devices.update(peer) { device in
                device.connecting.update(key) { waiters in
                    waiters.removeAll { if case .operation = $0 { true } else { false } }
                }
            }
        }
    }

    /// Processes the result of a step of the discovery.
    mutating func discovered(_ event: PeerEvent, _ purpose: PeerPurpose, at peer: PeerIdentifier, _ key: SessionKey) {
        guard var database = devices[peer]?.database, database.discoverer == key,
            case .discovering(let outstanding) = database.state
        else { return }
        var next: [(AttributeRequest, PeerPurpose)] = []
        switch (event, purpose) {
        case (.servicesDiscovered(.success(let services)), .services):
            // Programs do not see the GAP service, whose values are properties of the device.
            database.services = database.admit(services.filter { $0.uuid != .short(0x1800) })
            for service in database.services {
                let start = service.range.start
                next.append((.discoverIncludedServices(in: service.range, only: []), .includes(start)))
                next.append((.discoverCharacteristics(in: service.range, only: []), .members(start)))
            }
        case (.includedServicesDiscovered(in: _, .success(let services)), .includes(let start)):
            database.includes[start] = database.admit(services)
        case (.characteristicsDiscovered(in: _, .success(let found)), .members(let start)):
            let characteristics = database.admit(found)
            database.members[start] = characteristics
            for characteristic in characteristics where characteristic.value < characteristic.end {
                let first = AttributeHandle(wire: characteristic.value.wire &+ 1)
                let range = AttributeHandleRange(first, characteristic.end)
                let request = AttributeRequest.discoverDescriptors(of: characteristic.value, in: range)
                next.append((request, .descriptors(characteristic.value)))
            }
        case (.descriptorsDiscovered(of: _, .success(let found)), .descriptors(let handle)):
            database.descriptors[handle] = database.admit(found)
        default: break
        }
        if database.count >= Limit.attributes { next = [] }
        let rest = outstanding - 1 + next.count
        database.state = rest > 0 ? .discovering(rest) : .discovered
        _ = devices.update(peer) { $0.database = database }
        for (request, purpose) in next { self.request(key, peer, request, for: purpose) }
        if rest == 0 { showDatabase(of: peer) }
    }

    /// Adds objects for all discovered attributes.
    private mutating func showDatabase(of peer: PeerIdentifier) {
        guard let device = devices[peer] else { return }
        for service in device.database.services { show(service, of: device) }
        addServices(device.database.services.map(\.uuid), to: device.path)
        tree.set(device.path, BlueZ.device, "ServicesResolved", .boolean(true))
        finishConnects(to: peer)
        scheduleModalias(of: peer)
    }

    private mutating func show(_ service: DiscoveredService, of device: Device) {
        let path = device.path + "/service" + service.range.start.digits
        let includes = (device.database.includes[service.range.start] ?? []).map { included in
            BusValue.path(device.path + "/service" + included.range.start.digits)
        }
        let properties: [ObjectTree.Property] = [
            ("UUID", .string(service.uuid.inFull)), ("Device", .path(device.path)),
            ("Primary", .boolean(service.isPrimary)), ("Includes", .array(of: .path, includes)),
            ("Handle", .uint16(service.range.start.wire)),
        ]
        tree.add(path, [ObjectTree.Interface(name: BlueZ.service, properties: properties)])
        for characteristic in device.database.members[service.range.start] ?? [] {
            show(characteristic, of: device, below: path)
        }
    }

    private mutating func show(_ found: DiscoveredCharacteristic, of device: Device, below service: String) {
        let path = service + "/char" + found.declaration.digits
        let characteristic = RemoteDatabase.Characteristic(path: path, definition: found)
        let flags = characteristic.properties
        var properties: [ObjectTree.Property] = [
            ("UUID", .string(found.uuid.inFull)), ("Service", .path(service)), ("Value", .octets([])),
            ("Flags", .strings(flags.flags)), ("MTU", .uint16(UInt16(clamping: device.mtu))),
            ("Handle", .uint16(found.declaration.wire)),
        ]
        if flags.contains(.notify) || flags.contains(.indicate) { properties.append(("Notifying", .boolean(false))) }
        if flags.contains(.notify) { properties.append(("NotifyAcquired", .boolean(false))) }
        if flags.contains(.writeWithoutResponse) { properties.append(("WriteAcquired", .boolean(false))) }
        tree.add(path, [ObjectTree.Interface(name: BlueZ.characteristic, properties: properties)])
        _ = devices.update(device.peer) { device in
            device.database.characteristics[found.value] = characteristic
            device.database.handles[path] = found.value
        }
        for descriptor in device.database.descriptors[found.value] ?? [] {
            let place = path + "/desc" + descriptor.handle.digits
            let properties: [ObjectTree.Property] = [
                ("UUID", .string(descriptor.uuid.inFull)), ("Characteristic", .path(path)), ("Value", .octets([])),
                ("Handle", .uint16(descriptor.handle.wire)),
            ]
            tree.add(place, [ObjectTree.Interface(name: BlueZ.descriptor, properties: properties)])
            _ = devices.update(device.peer) { $0.database.handles[place] = descriptor.handle }
        }
    }

    mutating func changeMTU(_ mtu: Int, of peer: PeerIdentifier) {
        guard let device = devices[peer] else { return }
        _ = devices.update(peer) { $0.mtu = mtu }
        for characteristic in device.database.characteristics.all {
            tree.set(characteristic.path, BlueZ.characteristic, "MTU", .uint16(UInt16(clamping: mtu)))
        }
    }

    /// Discovers the services again after the device has changed them.
    ///
    /// Each connected session reports the change. Only the report of the session that discovered the services counts.
    mutating func rediscover(_ peer: PeerIdentifier, by key: SessionKey) {
        guard let discoverer = devices[peer]?.database.discoverer, discoverer == key else { return }
        removeDatabase(of: peer)
        discoverDatabase(of: peer, by: key)
    }
}

extension AttributeHandle {
    /// Four hex digits, as in object paths.
    fileprivate var digits: String { [UInt8(wire >> 8), UInt8(wire & 0xFF)].hexadecimal.lowercased() }
}
