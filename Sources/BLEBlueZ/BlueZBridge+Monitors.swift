import BLEHost
import BLEWire
import DBus

/// The advertisement monitors at and below an object that a program has registered, with the devices that they found.
struct Monitor: Sendable {
    /// An element of `or_patterns`: the octets that a data structure of this type must contain at this offset.
    struct Pattern: Equatable, Sendable {
        let offset: Int
        let type: UInt8
        let octets: [UInt8]
    }

    /// One object with `AdvertisementMonitor1`.
    struct Object: Sendable {
        let path: String
        let patterns: [Pattern]
        let highThreshold: Int
        let lowThreshold: Int
        /// The time without sufficient signal strength after which a device is lost.
        let lowTimeout: Duration
        /// The found devices, with the time at which each was last received with sufficient signal strength.
        var found = OrderedMap<PeerIdentifier, Instant>()

        /// Returns true if one of the patterns matches the data structures of an advertisement.
        func matches(_ structures: [AdvertisingData.Structure]) -> Bool {
            patterns.contains { pattern in
                structures.contains { structure in
                    structure.type.wire == pattern.type
                        && structure.data.dropFirst(pattern.offset).starts(with: pattern.octets)
                }
            }
        }
    }

    let client: String
    let path: String
    var objects: [Object] = []

    /// Returns whether an object is the registered one, or below it.
    func contains(_ object: String) -> Bool { object == path || object.hasPrefix(path == "/" ? path : path + "/") }

    /// The earliest time at which a found device is lost unless an advertisement from it arrives first; `nil` if there
    /// are no found devices.
    var deadline: Instant? {
        objects.flatMap { object in object.found.all.map { $0 + object.lowTimeout } }.min()
    }
}

extension BlueZBridge {
    mutating func answerMonitors(
        _ member: String,
        _ body: [BusValue],
        _ caller: Caller
    ) throws(BlueZError) -> [BusValue]? {
        guard let path = body.first?.text else { throw .invalidArguments }
        let existing = monitors.keys.first { number in
            monitors[number]?.client == caller.sender && monitors[number]?.path == path
        }
        guard member == "RegisterMonitor" else {
            guard let existing else { throw .doesNotExist }
            removeMonitors([existing], of: caller.sender)
            return []
        }
        guard existing == nil else { throw .alreadyExists }
        guard monitors.count < Limit.monitors else { throw .limitReached }
        // Programs may create their objects after they have registered them, as bleak does.
        if !monitors.all.contains(where: { $0.client == caller.sender }) {
            changeMatch("AddMatch", caller.sender, ObjectTree.objectManager)
        }
        let number = nextNumber()
        monitors[number] = Monitor(client: caller.sender, path: path)
        call(caller.sender, path, ObjectTree.objectManager, "GetManagedObjects", for: .monitorObjects(of: number))
        return []
    }

    mutating func removeMonitors(of client: String) {
        removeMonitors(monitors.keys.filter { monitors[$0]?.client == client }, of: client)
    }

    private mutating func removeMonitors(_ numbers: [UInt32], of client: String) {
        guard !numbers.isEmpty else { return }
        for number in numbers { monitors[number] = nil }
        if !monitors.all.contains(where: { $0.client == client }) {
            changeMatch("RemoveMatch", client, ObjectTree.objectManager)
        }
        updateScan(of: client)
    }

    /// Activates the monitors among a program's objects, and releases those that cannot be used.
    mutating func addMonitors(_ number: UInt32, _ reply: BusReply) {
        guard let client = monitors[number]?.client else { return }
        guard case .values(let values, _) = reply, let entries = values.first?.entries,
            entries.count <= Limit.applicationObjects
        else { return removeMonitors([number], of: client) }
        for (key, interfaces) in entries {
            guard let path = key.text, let properties = interfaces[key: BlueZ.monitor] else { continue }
            addMonitor(number, at: path, properties)
        }
        updateScan(of: client)
    }

    /// Adds a monitor that a program has created below an object that it registered earlier.
    mutating func addMonitor(_ signal: BusMessage) {
        guard let client = signal.sender, signal.body.count == 2, let path = signal.body[0].text,
            let properties = signal.body[1][key: BlueZ.monitor]
        else { return }
        var isAdded = false
        for number in monitors.keys {
            guard let monitor = monitors[number], monitor.client == client, monitor.contains(path) else { continue }
            if addMonitor(number, at: path, properties) { isAdded = true }
        }
        if isAdded { updateScan(of: client) }
    }

    /// Removes the monitor whose object its program has removed from the bus, as `signal` reports.
    mutating func removeMonitor(_ signal: BusMessage) {
        guard let client = signal.sender, signal.body.count == 2, let path = signal.body[0].text,
            signal.body[1].elements?.contains(where: { $0.text == BlueZ.monitor }) == true
        else { return }
        for number in monitors.keys where monitors[number]?.client == client {
            _ = monitors.update(number) { $0.objects.removeAll { $0.path == path } }
        }
        updateScan(of: client)
    }

    /// Adds a monitor; returns false if the monitor exists already, or cannot be used.
    @discardableResult
    private mutating func addMonitor(_ number: UInt32, at path: String, _ properties: BusValue) -> Bool {
        guard let monitor = monitors[number], !monitor.objects.contains(where: { $0.path == path }) else {
            return false
        }
        let objects = monitors.all.reduce(0) { $0 + ($1.client == monitor.client ? $1.objects.count : 0) }
        guard let object = Monitor.Object(path, properties), objects < Limit.monitorObjects else {
            call(monitor.client, path, BlueZ.monitor, "Release")
            return false
        }
        _ = monitors.update(number) { $0.objects.append(object) }
        call(monitor.client, path, BlueZ.monitor, "Activate")
        return true
    }

    /// Returns whether a program has active advertisement monitors, for which the bridge must scan.
    func hasMonitors(_ client: String) -> Bool {
        monitors.all.contains { $0.client == client && !$0.objects.isEmpty }
    }

    /// Returns whether the data structures of an advertisement match one of a program's monitors.
    func matchMonitors(_ structures: [AdvertisingData.Structure], of client: String) -> Bool {
        monitors.all.contains { $0.client == client && $0.objects.contains { $0.matches(structures) } }
    }

    /// Reports a received device to the matching monitors of a program that have not found it yet.
    ///
    /// `structures` are the data structures of the advertisement. A device whose signal is too weak for a monitor is
    /// not reported to that monitor. If a monitor has already found the device, the time of reception is recorded.
    mutating func reportFound(
        _ report: AdvertisementReport,
        _ structures: [AdvertisingData.Structure],
        to client: String
    ) {
        guard let path = devices[report.peer]?.path else { return }
        let rssi = report.rssi.dBm.map(Int.init) ?? -127
        for number in monitors.keys where monitors[number]?.client == client {
            for index in monitors[number]?.objects.indices ?? 0..<0 {
                guard let object = monitors[number]?.objects[index], object.matches(structures) else { continue }
                let isKnown = object.found[report.peer] != nil
                guard rssi >= (isKnown ? object.lowThreshold : object.highThreshold) else { continue }
                let time = now
                _ = monitors.update(number) { $0.objects[index].found[report.peer] = time }
                guard !isKnown else { continue }
                wait(until: now + object.lowTimeout)
                call(client, object.path, BlueZ.monitor, "DeviceFound", [.path(path)])
            }
        }
    }

    /// Reports a found device as lost if no advertisement with sufficient signal strength has arrived from it for
    /// ``Monitor/Object/lowTimeout``.
    mutating func expireMonitors() {
        for number in monitors.keys {
            guard let monitor = monitors[number], let deadline = monitor.deadline, deadline <= now else { continue }
            for (index, object) in monitor.objects.enumerated() {
                for peer in object.found.keys {
                    guard let last = object.found[peer], last + object.lowTimeout <= now else { continue }
                    _ = monitors.update(number) { $0.objects[index].found[peer] = nil }
                    guard let path = devices[peer]?.path else { continue }
                    call(monitor.client, object.path, BlueZ.monitor, "DeviceLost", [.path(path)])
                }
            }
        }
    }
}

extension Monitor.Object {
    /// Reads the properties of a monitor; `nil` if they are invalid, or if the monitor's type is not supported.
    init?(_ path: String, _ properties: BusValue) {
        guard properties[key: "Type"]?.text == "or_patterns", let list = properties[key: "Patterns"]?.elements,
            1...64 ~= list.count
        else { return nil }
        guard let low = Self.threshold(properties[key: "RSSILowThreshold"], unset: -128),
            let high = Self.threshold(properties[key: "RSSIHighThreshold"], unset: low), high >= low,
            let lowTimeout = Self.timeout(properties[key: "RSSILowTimeout"], unset: 30),
            Self.timeout(properties[key: "RSSIHighTimeout"], unset: 10) != nil
        else { return nil }
        var patterns: [Monitor.Pattern] = []
        for item in list {
            guard let fields = item.elements, fields.count == 3, let offset = fields[0].integer, 0...30 ~= offset,
                let type = fields[1].integer.flatMap(UInt8.init(exactly:)), let octets = fields[2].bytes,
                1...31 ~= octets.count
            else { return nil }
            patterns.append(Monitor.Pattern(offset: offset, type: type, octets: octets))
        }
        self.init(
            path: path,
            patterns: patterns,
            highThreshold: high,
            lowThreshold: low,
            lowTimeout: .seconds(lowTimeout)
        )
    }

    /// Returns the threshold in `value`, in dBm: `unset` if it is missing or 127, `nil` if it is not a number from -127
    /// to 20.
    private static func threshold(_ value: BusValue?, unset: Int) -> Int? {
        guard let value, value.integer != 127 else { return unset }
        guard case .int16(let threshold) = value, -127...20 ~= threshold else { return nil }
        return Int(threshold)
    }

    /// Returns the time in `value`, in seconds: `unset` if it is missing or 0, `nil` if it is not a number from 1 to
    /// 300.
    private static func timeout(_ value: BusValue?, unset: Int) -> Int? {
        guard let value, value.integer != 0 else { return unset }
        guard case .uint16(let timeout) = value, 1...300 ~= timeout else { return nil }
        return Int(timeout)
    }
}
