import BLEWire

/// The open calls and requests, with which later callbacks and packets are matched.
struct Relations: Sendable {
    private static let mostCalls = 256

    private struct Call: Sendable {
        let step: String
        /// The words after the name of the call, such as its device and attribute.
        let words: [Substring]
        let client: Int
        let source: Int
        let group: Int
    }

    private var calls: [Call] = []
    /// A request that has had no response so far.
    struct Request: Sendable {
        let group: Int
        let handle: UInt16?
        /// The attribute type in a Read By Type or Read By Group Type request; `nil` for other requests.
        let type: BluetoothUUID?
    }

    /// The open request in each direction of each link.
    var requests: [LinkFrames.Stream: Request] = [:]
    /// The group of each command that has had no response so far, by source and opcode.
    private var commands: [Int: [UInt16: Int]] = [:]

    /// The names of the callbacks that answer a call, by the call's name.
    private static let answers: [String: [String]] = [
        "readValue": ["didUpdateValue"], "writeValue": ["didWriteValue"],
        "connect": ["didConnect", "didFailToConnect"],
        "setNotifyValue": ["didUpdateNotificationState"], "readRSSI": ["didReadRSSI"],
        "discoverServices": ["didDiscoverServices"], "discoverCharacteristics": ["didDiscoverCharacteristics"],
        "discoverIncludedServices": ["didDiscoverIncludedServices"], "discoverDescriptors": ["didDiscoverDescriptors"],
        "openL2CAPChannel": ["didOpen"], "add": ["didAdd"], "startAdvertising": ["didStartAdvertising"],
        "cancelPeripheralConnection": ["didDisconnect", "didFailToConnect"],
        "publishL2CAPChannel": ["didPublishL2CAPChannel"],
    ]
    /// The opcodes of the requests that carry out a call, by the call's name.
    private static let operations: [String: Set<UInt8>] = [
        "readValue": [0x0A, 0x0C, 0x08], "writeValue": [0x12, 0x16, 0x18, 0x52], "setNotifyValue": [0x12],
        "discoverServices": [0x10, 0x06], "discoverCharacteristics": [0x08], "discoverIncludedServices": [0x08],
        "discoverDescriptors": [0x04],
    ]

    /// The calls that are not about a device.
    private static let ownCalls: Set = ["add", "startAdvertising", "publishL2CAPChannel"]

    /// Returns true if a call always has a callback; `step` is the name of the call, and `words` are the words after
    /// it.
    static func expectsAnswer(_ step: String, _ words: String) -> Bool {
        answers[step] != nil && !words.hasSuffix("without response")
    }

    /// Returns true if a callback answers a call.
    static func answers(_ callback: String, _ call: String) -> Bool { answers[call]?.contains(callback) == true }

    /// Returns true if a callback and a call are about the same device, or if the call is not about a device.
    ///
    /// `step` is the name of the call. `call` and `callback` are the words that follow each name.
    static func match(_ step: String, _ call: String, _ callback: String) -> Bool {
        ownCalls.contains(step) || call.split(separator: " ").first == callback.split(separator: " ").first
    }

    /// Records a call, and returns its group; 0 if the call has no callback.
    ///
    /// `step` is the name of the call, and `words` are the words after it. `event` is the index of the call's event,
    /// from which the number of the group follows.
    mutating func began(_ step: String, _ words: String, _ client: Int, _ source: Int, _ event: Int) -> Int {
        guard Self.expectsAnswer(step, words) else { return 0 }
        if calls.count >= Self.mostCalls { calls.removeFirst() }
        let call = Call(
            step: step,
            words: words.split(separator: " "),
            client: client,
            source: source,
            group: event + 1
        )
        calls.append(call)
        return call.group
    }

    /// Removes the open call that a callback answers, and returns its group; 0 if there is no such call.
    ///
    /// `step` is the name of the callback, and `words` are the words after it.
    mutating func ended(_ step: String, _ words: String, _ client: Int, _ source: Int) -> Int {
        guard !words.hasSuffix("notified") else { return 0 }
        let parts = words.split(separator: " ")
        let index = calls.firstIndex { call in
            call.client == client && call.source == source && Self.answers[call.step]?.contains(step) == true
                && (Self.ownCalls.contains(call.step)
                    || call.words.first == parts.first
                        && Self.attribute(call.words).map { parts.contains($0) } != false)
        }
        return index.map { calls.remove(at: $0).group } ?? 0
    }

    /// Returns the attribute in the words of a call: the first UUID after the device; `nil` if there is none.
    private static func attribute(_ words: [Substring]) -> Substring? {
        words.dropFirst().first { BluetoothUUID($0) != nil }
    }

    /// Returns the group of the open call that a request from the host carries out; `fresh` if there is no such call.
    func group(of opcode: ATT.Opcode, source: Int, fresh: Int) -> Int {
        calls.first { $0.source == source && Self.operations[$0.step]?.contains(opcode.wire) == true }?.group ?? fresh
    }

    /// Returns the group of the first open call with the name `step`; 0 if there is no such call.
    func group(ofCall step: String, source: Int) -> Int {
        calls.first { $0.source == source && $0.step == step }?.group ?? 0
    }

    /// Records that a command with `opcode` from `source` belongs to `group`.
    ///
    /// ``answered(_:source:)`` returns the group when the event that answers the command arrives.
    mutating func commanded(_ opcode: UInt16, source: Int, group: Int) {
        commands[source, default: [:]][opcode] = group
    }

    /// Returns the group of the command that an event answers; 0 if the command is unknown.
    mutating func answered(_ opcode: UInt16, source: Int) -> Int { commands[source]?.removeValue(forKey: opcode) ?? 0 }
}
