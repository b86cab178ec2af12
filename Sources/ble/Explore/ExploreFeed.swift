import BLEExplain
import BLEHost
import BLEWire
import CoreBluetooth

/// The messages for the browsers that show a session: the lines that the session prints, and its recorded packets and
/// calls.
///
/// All browsers share one queue of messages. A browser that is too slow misses the oldest ones, so the memory in use
/// does not depend on how fast browsers read.
@MainActor
final class ExploreFeed {
    /// The position of one browser in the feed.
    @MainActor
    final class Reader {
        fileprivate var next = 0
        fileprivate var hasBegun = false
        fileprivate var page = LivePage()
        fileprivate var lastSentTick = 0
        fileprivate var hasLeft = false
        fileprivate init() {}
    }

    /// A message of the server-sent events: its type, and its data as one line of JSON.
    private struct Message {
        let type: String
        let data: String

        var frame: String { "event: \(type)\ndata: \(data)\n\n" }
    }

    /// The maximum number of messages that wait for browsers, and their maximum total length in octets.
    static let mostMessages = 4_096, mostOctets = 4 << 20
    /// The approximate maximum total length of the messages that are written to a browser at once, in octets.
    private static let octetsPerMessage = 128 << 10
    /// The maximum number of devices whose latest lines are kept for browsers that connect later.
    private static let mostDevices = 512
    /// The minimum time between two advertisements of the same device in the feed.
    private static let pause = Duration.milliseconds(250)
    /// The number of ticks without messages after which a browser receives an empty comment, which keeps the connection
    /// open.
    private static let keepAliveTicks = 100

    /// The latest lines about a device.
    private struct Device {
        var found: String?
        var connected: String?
        var age: Duration?
    }

    private var messages = Fifo<Message>()
    /// The length of the messages in the queue, in octets.
    private(set) var octets = 0
    /// The number of messages that were removed from the queue.
    private var removed = 0
    private var devices: [(identifier: String, device: Device)] = []
    private var isScanning = false
    private var live = LiveTimeline()
    private let source: (any RecordingSource)?
    private let age: () -> Duration
    private var ticks = 0
    private var waiting: [CheckedContinuation<Void, Never>] = []
    private(set) var isClosed = false

    /// Creates a feed.
    ///
    /// - Parameters:
    ///   - source: The recording that fills the tracks of the page; `nil` for a page without tracks.
    ///   - age: Returns the time since some fixed moment.
    init(from source: (any RecordingSource)?, age: @escaping () -> Duration = ContinuousClock().stopwatch()) {
        self.source = source
        self.age = age
    }

    /// Adds a line of the session.
    func add(_ fact: Fact) {
        let identifier = fact.fields["identifier"] as? String, command = fact.fields["command"] as? String
        if fact.event == "discovered", let identifier, isTooEarly(identifier) { return }
        source?.note(fact)
        if fact.event == "done", command == "scan" || command == "stop" { isScanning = command == "scan" }
        let line = Printer.line(of: fact.fields.merging(["event": fact.event]) { $1 })
        if let identifier { storeLatest(line, fact.event, of: identifier) }
        let names = Self.names(in: fact.fields["services"] ?? [])
        if !names.isEmpty { add("names", Printer.line(of: names)) }
        add("line", line)
    }

    /// Adds the apps of the daemon.
    func add(apps: [Fact]) { add("apps", Printer.line(of: apps.map(\.fields))) }

    private func add(_ type: String, _ data: String) {
        let message = Message(type: type, data: data)
        messages.append(message)
        octets += message.data.utf8.count
        while messages.count > Self.mostMessages || octets > Self.mostOctets, let oldest = messages.popFirst() {
            octets -= oldest.data.utf8.count
            removed += 1
        }
        wake()
    }

    /// Returns true if an advertisement of a known device was added less than ``pause`` ago; otherwise records the
    /// current time for that device.
    private func isTooEarly(_ identifier: String) -> Bool {
        guard let index = devices.firstIndex(where: { $0.identifier == identifier }) else { return false }
        let now = age()
        if let last = devices[index].device.age, now - last < Self.pause { return true }
        devices[index].device.age = now
        return false
    }

    private func storeLatest(_ line: String, _ event: String, of identifier: String) {
        guard ["discovered", "connected", "disconnected"].contains(event) else { return }
        let place = devices.firstIndex { $0.identifier == identifier } ?? devices.count
        if place == devices.count {
            if devices.count >= Self.mostDevices {
                let oldest = devices.firstIndex { $0.device.connected == nil } ?? 0
                devices.remove(at: oldest)
                return storeLatest(line, event, of: identifier)
            }
            devices.append((identifier, Device()))
        }
        switch event {
        case "discovered": devices[place].device.found = line
        case "connected": devices[place].device.connected = line
        default: devices[place].device.connected = nil
        }
    }

    /// Returns the assigned names of the UUIDs in a list of services, by UUID.
    private static func names(in value: Any) -> [String: String] {
        switch value {
        case let text as String:
            guard let uuid = BluetoothUUID(text), let name = AssignedNames.attribute(uuid) else { return [:] }
            return [text: name]
        case let list as [Any]: return list.reduce(into: [:]) { $0.merge(names(in: $1)) { $1 } }
        case let object as [String: Any]:
            return ["uuid", "characteristics", "descriptors"].reduce(into: [:]) { names, key in
                if let inner = object[key] { names.merge(Self.names(in: inner)) { $1 } }
            }
        default: return [:]
        }
    }

    /// Takes new events from the recording, and wakes the readers of browsers if there is something to send.
    ///
    /// Call this several times per second.
    func tick() {
        ticks += 1
        var isNew = source?.record(to: &live) ?? false
        // The search for causes looks at all events, so it runs less often.
        if ticks % 20 == 0 { isNew = live.explain() || isNew }
        if isNew || ticks % Self.keepAliveTicks == 0 { wake() }
    }

    /// Returns a reader for a new browser.
    func makeReader() -> Reader { Reader() }

    /// Ends ``next(for:)`` for a browser that has closed its connection.
    func removeReader(_ reader: Reader) {
        reader.hasLeft = true
        wake()
    }

    /// Waits for messages for a browser, and returns them; `nil` when the feed is closed or the browser has left.
    func next(for reader: Reader) async -> String? {
        while true {
            guard !reader.hasLeft else { return nil }
            let frames = take(for: reader)
            guard frames.isEmpty else { return frames }
            guard !isClosed else { return nil }
            await withCheckedContinuation { waiting.append($0) }
        }
    }

    private func take(for reader: Reader) -> String {
        var frames = reader.hasBegun ? "" : beginning(of: reader)
        if reader.next < removed {
            frames += Message(type: "lost", data: Printer.line(of: ["count": removed - reader.next])).frame
            reader.next = removed
        }
        while frames.utf8.count < Self.octetsPerMessage, let message = messages[reader.next - removed] {
            frames += message.frame
            reader.next += 1
        }
        if frames.utf8.count < Self.octetsPerMessage, let part = reader.page.part(of: live) {
            frames += Message(type: "part", data: part).frame
        }
        if frames.isEmpty, ticks - reader.lastSentTick >= Self.keepAliveTicks { frames = ":\n\n" }
        if !frames.isEmpty { reader.lastSentTick = ticks }
        return frames
    }

    /// Returns the first messages for a browser: the known devices, and the current connections.
    private func beginning(of reader: Reader) -> String {
        reader.hasBegun = true
        reader.next = removed + messages.count
        reader.lastSentTick = ticks
        let lines = devices.flatMap { [$0.device.found, $0.device.connected] }.compactMap { $0 }
        return Message(type: "hello", data: Printer.line(of: ["isScanning": isScanning])).frame
            + lines.map { Message(type: "line", data: $0).frame }.joined()
    }

    /// Ends the feed; browsers still receive the remaining messages.
    func close() {
        isClosed = true
        wake()
    }

    private func wake() {
        let waiting = waiting
        self.waiting = []
        for continuation in waiting { continuation.resume() }
    }
}
