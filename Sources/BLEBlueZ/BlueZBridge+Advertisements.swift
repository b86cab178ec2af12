import BLEHost
import BLEWire
import DBus

/// An advertisement that a program exports.
struct Advertisement: Sendable {
    let client: String
    let path: String
    /// The call to `RegisterAdvertisement`; `nil` once it has been answered.
    var caller: Caller?
    /// The properties that the program exports; `nil` until the program has returned them.
    var exported: ExportedAdvertisement?
    /// The time at which the advertisement ends; `nil` before it has started, or if it has no limit.
    var end: Instant?
    /// The time at which the advertisement stops being discoverable; `nil` before it has started, or if there is no
    /// limit.
    var discoverableEnd: Instant?
    /// The number that programs see, from 1; no two existing advertisements have the same number.
    var instance: UInt8 = 0

    /// The time at which the advertisement ends or stops being discoverable; `nil` if neither will happen.
    var deadline: Instant? { [end, discoverableEnd].compactMap(\.self).min() }
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
            let pending = advertisements[existing]?.caller
            removeAdvertisement(existing)
            if let pending { refuse(pending, .doesNotExist) }
            return []
        }
        guard existing == nil else { throw .alreadyExists }
        guard isPowered else { throw .notReady }
        guard advertisements.count < Limit.advertisements else {
            throw .init("NotPermitted", "Maximum advertisements reached")
        }
        let number = nextNumber()
        var advertisement = Advertisement(client: caller.sender, path: path, caller: caller)
        let taken = advertisements.all.map(\.instance)
        advertisement.instance = (1...UInt8(Limit.advertisements)).first { !taken.contains($0) } ?? 0
        changeExports(of: caller.sender) { $0.advertisements[number] = advertisement }
        readAdvertisement(number)
        return nil
    }

    private mutating func readAdvertisement(_ number: UInt32) {
        guard let advertisement = advertisements[number] else { return }
        call(
            advertisement.client,
            advertisement.path,
            ObjectTree.properties,
            "GetAll",
            [.string(BlueZ.advertisement)],
            for: .properties(ofAdvertisement: number)
        )
    }

    /// Reads an advertisement again after its program has changed the properties.
    mutating func noteChangedAdvertisement(_ signal: BusMessage) {
        for number in advertisements.keys {
            guard let advertisement = advertisements[number], advertisement.caller == nil,
                advertisement.client == signal.sender, advertisement.path == signal.path
            else { continue }
            readAdvertisement(number)
        }
    }

    mutating func removeAdvertisement(_ number: UInt32) {
        guard let advertisement = advertisements[number] else { return }
        changeExports(of: advertisement.client) { $0.advertisements[number] = nil }
        close(SessionKey(advertisement.client, .advertisement(number)))
        countAdvertisements()
    }

    /// Ends an advertisement, and notifies its program.
    ///
    /// If the advertisement has not started, replies to the program's call with `error` instead.
    mutating func endAdvertisement(_ number: UInt32, _ error: BlueZError) {
        guard let advertisement = advertisements[number] else { return }
        removeAdvertisement(number)
        if let caller = advertisement.caller { return refuse(caller, error) }
        call(advertisement.client, advertisement.path, BlueZ.advertisement, "Release")
    }

    /// Ends each advertisement whose time is over, and hides each one that is no longer discoverable.
    mutating func expireAdvertisements() {
        for number in advertisements.keys {
            guard let advertisement = advertisements[number] else { continue }
            if let end = advertisement.end, end <= now {
                endAdvertisement(number, .failed)
            } else if let end = advertisement.discoverableEnd, end <= now, let exported = advertisement.exported {
                _ = advertisements.update(number) { $0.discoverableEnd = nil }
                replaceAdvertisement(number, with: exported.hiddenRequest)
            }
        }
    }

    /// Starts an advertisement with the properties that its program returned; if the advertisement has already started,
    /// replaces its properties.
    mutating func advertise(_ number: UInt32, _ reply: BusReply) {
        guard let advertisement = advertisements[number] else { return }
        var exported: ExportedAdvertisement?
        if case .values(let values, _) = reply, let properties = values.first {
            let isDiscoverable = tree.value(adapterPath, BlueZ.adapter, "Discoverable") == .boolean(true)
            let alias = tree.value(adapterPath, BlueZ.adapter, "Alias")?.text ?? adapter.alias
            exported = ExportedAdvertisement(properties, on: .init(alias: alias, isDiscoverable: isDiscoverable))
        }
        guard let exported, exported.request.error == nil else {
            // An advertisement that has started stays as it is.
            guard let caller = advertisement.caller else { return }
            removeAdvertisement(number)
            return refuse(caller, exported == nil ? .invalidAdvertisement : .refusedAdvertisement)
        }
        guard exported != advertisement.exported else { return }
        _ = advertisements.update(number) { $0.exported = exported }
        guard advertisement.caller == nil else {
            let key = SessionKey(advertisement.client, .advertisement(number))
            return request(key, .server(.startAdvertising(exported.request)))
        }
        limitAdvertisement(number)
        replaceAdvertisement(number, with: exported.request)
    }

    private mutating func replaceAdvertisement(_ number: UInt32, with request: AdvertisingRequest) {
        guard let advertisement = advertisements[number] else { return }
        let key = SessionKey(advertisement.client, .advertisement(number))
        self.request(key, .server(.stopAdvertising))
        self.request(key, .server(.startAdvertising(request)))
    }

    /// Sets the times at which an advertisement ends, and at which it stops being discoverable.
    private mutating func limitAdvertisement(_ number: UInt32) {
        let time = now
        _ = advertisements.update(number) { advertisement in
            advertisement.end = advertisement.exported?.timeout.map { time + $0 }
            advertisement.discoverableEnd = advertisement.exported?.discoverableTime.map { time + $0 }
        }
    }

    mutating func advertisingStarted(_ failure: Failure?, _ key: SessionKey) {
        guard case .advertisement(let number) = key.purpose, let advertisement = advertisements[number] else { return }
        // If a changed advertisement cannot be sent, its program is notified that the advertisement has ended.
        if failure != nil { return endAdvertisement(number, .refusedAdvertisement) }
        guard let caller = advertisement.caller else { return }
        _ = advertisements.update(number) { $0.caller = nil }
        limitAdvertisement(number)
        countAdvertisements()
        if advertisement.exported?.hasInstance == true {
            let body: [BusValue] = [
                .string(BlueZ.advertisement), .string("Instance"), .variant(.byte(advertisement.instance)),
            ]
            call(advertisement.client, advertisement.path, ObjectTree.properties, "Set", body)
        }
        reply(to: caller)
    }

    private mutating func countAdvertisements() {
        let active = advertisements.all.count { $0.caller == nil }
        let rest = Limit.advertisements - advertisements.count
        tree.set(adapterPath, BlueZ.advertisements, "ActiveInstances", .byte(UInt8(clamping: active)))
        tree.set(adapterPath, BlueZ.advertisements, "SupportedInstances", .byte(UInt8(clamping: rest)))
    }
}
