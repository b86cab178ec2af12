import BLEHost
import BLEWire
import DBus

/// An advertisement that a program exports.
struct Advertisement: Sendable {
    let client: String
    let path: String
    /// The call to `RegisterAdvertisement`; `nil` once it has been answered.
    var caller: Caller?
    /// How long the advertisement stays on the air; `nil` for no limit.
    var timeout: Duration?
    /// The time at which the advertisement ends, once it has started; `nil` if it has no limit.
    var deadline: Instant?
}

extension BlueZBridge {
    mutating func answerAdvertisements(
        _ member: String,
        _ body: [BusValue],
        _ caller: Caller
    ) throws(BlueZError) -> [BusValue]? {
        guard let path = body.first?.text else { throw .invalidArguments }
        let existing = advertisements.keys.first { number in
            advertisements[number]?.client == caller.sender && advertisements[number]?.path == path
        }
        guard member == "RegisterAdvertisement" else {
            guard let existing else { throw .doesNotExist }
            removeAdvertisement(existing)
            return []
        }
        guard existing == nil else { throw .alreadyExists }
        guard isPowered else { throw .notReady }
        guard advertisements.count < Limit.advertisements else {
            throw .init("NotPermitted", "Maximum advertisements reached")
        }
        let number = nextNumber()
        advertisements[number] = Advertisement(client: caller.sender, path: path, caller: caller)
        call(
            caller.sender,
            path,
            ObjectTree.properties,
            "GetAll",
            [.string(BlueZ.advertisement)],
            for: .properties(ofAdvertisement: number)
        )
        return nil
    }

    mutating func removeAdvertisement(_ number: UInt32) {
        guard let advertisement = advertisements[number] else { return }
        advertisements[number] = nil
        close(SessionKey(advertisement.client, .advertisement(number)))
        countAdvertisements()
    }

    /// Ends an advertisement: notifies its program or, if it has not started, replies to the program's call with
    /// `error`.
    mutating func endAdvertisement(_ number: UInt32, _ error: BlueZError) {
        guard let advertisement = advertisements[number] else { return }
        removeAdvertisement(number)
        if let caller = advertisement.caller { return refuse(caller, error) }
        call(advertisement.client, advertisement.path, BlueZ.advertisement, "Release")
    }

    /// Ends the advertisements whose time is over.
    mutating func expireAdvertisements() {
        for number in advertisements.keys {
            guard let deadline = advertisements[number]?.deadline, deadline <= now else { continue }
            endAdvertisement(number, .failed)
        }
    }

    /// Starts an advertisement with the properties that its program returned.
    mutating func startAdvertisement(_ number: UInt32, _ reply: BusReply) {
        guard let advertisement = advertisements[number], let caller = advertisement.caller else { return }
        guard case .values(let values, _) = reply, let properties = values.first,
            let content = content(of: properties)
        else {
            removeAdvertisement(number)
            return refuse(caller, BlueZError("Failed", "Failed to parse advertisement."))
        }
        if let timeout = properties[key: "Timeout"]?.integer, 1...65_535 ~= timeout {
            _ = advertisements.update(number) { $0.timeout = .seconds(timeout) }
        }
        request(SessionKey(advertisement.client, .advertisement(number)), .server(.startAdvertising(content)))
    }

    mutating func advertisingStarted(_ failure: Failure?, _ key: SessionKey) {
        guard case .advertisement(let number) = key.purpose, let caller = advertisements[number]?.caller else { return }
        if let failure {
            removeAdvertisement(number)
            return refuse(caller, BlueZError(failure))
        }
        let time = now
        _ = advertisements.update(number) { advertisement in
            advertisement.caller = nil
            advertisement.deadline = advertisement.timeout.map { time + $0 }
        }
        countAdvertisements()
        reply(to: caller)
    }

    private mutating func countAdvertisements() {
        let active = advertisements.all.count { $0.caller == nil }
        let rest = Limit.advertisements - advertisements.count
        tree.set(adapterPath, BlueZ.advertisements, "ActiveInstances", .byte(UInt8(clamping: active)))
        tree.set(adapterPath, BlueZ.advertisements, "SupportedInstances", .byte(UInt8(clamping: rest)))
    }

    /// Returns the advertisement for the properties of `LEAdvertisement1`; `nil` if they are invalid.
    private func content(of properties: BusValue) -> AdvertisingRequest? {
        guard let type = properties[key: "Type"]?.text, ["peripheral", "broadcast"].contains(type) else { return nil }
        var broadcast = BroadcastRequest(), request = AdvertisingRequest()
        broadcast.isConnectable = type == "peripheral"
        for text in properties[key: "ServiceUUIDs"]?.elements ?? [] {
            guard let uuid = text.text.flatMap({ BluetoothUUID(from: $0) }) else { return nil }
            request.services.append(uuid.attributeForm)
        }
        let manufacturers = properties[key: "ManufacturerData"]?.entries ?? []
        if let (key, value) = manufacturers.first {
            guard manufacturers.count == 1, let company = key.integer, let data = value.bytes else { return nil }
            broadcast.manufacturerData = [UInt8(company & 0xFF), UInt8(company >> 8 & 0xFF)] + data
        }
        for (key, value) in properties[key: "ServiceData"]?.entries ?? [] {
            guard let uuid = key.text.flatMap({ BluetoothUUID(from: $0) }), let data = value.bytes else { return nil }
            broadcast.serviceData.append(AdvertisingData.ServiceData(service: uuid.attributeForm, data: data))
        }
        let includes = properties[key: "Includes"]?.elements?.compactMap(\.text) ?? []
        request.localName = properties[key: "LocalName"]?.text
        if request.localName == nil, includes.contains("local-name") {
            request.localName = tree.value(adapterPath, BlueZ.adapter, "Alias")?.text
        }
        if let power = properties[key: "TxPower"]?.integer { broadcast.transmitPower = Int8(clamping: power) }
        if includes.contains("tx-power") { broadcast.statedPower = broadcast.transmitPower ?? 0 }
        let isDiscoverable =
            properties[key: "Discoverable"]?.flag
            ?? (tree.value(adapterPath, BlueZ.adapter, "Discoverable") == .boolean(true) || type == "peripheral")
        broadcast.flags = isDiscoverable ? [.generalDiscoverable, .classicNotSupported] : .classicNotSupported
        if let interval = properties[key: "MinInterval"]?.integer {
            guard 20...10_485 ~= interval else { return nil }
            broadcast.interval = .milliseconds(interval)
        }
        if properties[key: "SecondaryChannel"]?.text != nil { broadcast.isExtended = true }
        request.broadcast = broadcast
        return request
    }
}
