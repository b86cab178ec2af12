import BLEWire

/// The advertising sets that testers have for themselves, beside the one that apps share.
///
/// With the older commands there is one advertisement in all: a tester has it while no app advertises, and apps wait
/// until the tester lets it go.
struct TesterSets {
    /// How many there can be; the controller may know fewer.
    static let limit = 15

    private struct Entry {
        let client: ClientID
        let id: AdvertisingSetID
        let handle: AdvertisingHandle
        var set: AdvertisingSet
        /// Whether the client has heard that it is on the air.
        var isAnswered = false
        /// Whether the client is to hear that it has ended.
        var isAwaited = true
        /// Whether it ends with the first connection.
        let isDirected: Bool
    }

    private var entries: [Entry] = []
    private var usesExtendedCommands = false

    /// Whether a tester has the only advertisement that there is.
    var hasTheOnlySet: Bool { !usesExtendedCommands && !entries.isEmpty }

    /// Whether none is on the air, and nothing of that is under way.
    var areOff: Bool { entries.allSatisfy(\.set.isOff) }

    /// When to ask for the next steps, if nothing happens before.
    var deadline: Instant? {
        var least: Instant?
        for entry in entries { least.bringForward(to: entry.set.deadline) }
        return least
    }

    /// The controller was reset, and has no sets.
    ///
    /// - Returns: What testers are to hear.
    mutating func reset(usesExtendedCommands: Bool) -> [Finding] {
        let findings = entries.filter(\.isAwaited).map { entry in
            Finding(entry.client, entry.isAnswered ? .setEnded(entry.id) : .setStarted(entry.id, .poweredOff))
        }
        self = Self()
        self.usesExtendedCommands = usesExtendedCommands
        return findings
    }

    /// What a tester is to hear.
    struct Finding {
        let client: ClientID
        let event: TesterEvent
        fileprivate init(_ client: ClientID, _ event: TesterEvent) { (self.client, self.event) = (client, event) }
    }

    /// A tester wants a set; `nil` if it is answered when that has begun, otherwise why not.
    mutating func start(
        _ request: AdvertisingSetRequest,
        as id: AdvertisingSetID,
        for client: ClientID,
        onlySetIsFree: Bool
    ) -> Failure? {
        guard !entries.contains(where: { $0.client == client && $0.id == id }) else { return .alreadyInProgress }
        guard let content = request.content else { return .invalidParameters }
        guard usesExtendedCommands || request.parameters.isLegacy else { return .notSupported }
        guard usesExtendedCommands || onlySetIsFree && entries.isEmpty, let handle = freeHandle else {
            return .limitReached
        }
        var entry = Entry(
            client: client,
            id: id,
            handle: handle,
            set: AdvertisingSet(
                setsAddress: usesExtendedCommands && request.parameters.ownAddress != .public,
                isTransient: usesExtendedCommands
            ),
            isDirected: request.parameters.target != nil
        )
        entry.set.wanted = content
        entries.append(entry)
        return nil
    }

    private var freeHandle: AdvertisingHandle? {
        guard usesExtendedCommands else { return .first }
        return (1...UInt8(Self.limit)).lazy.compactMap { AdvertisingHandle(wire: $0) }.first { handle in
            !entries.contains { $0.handle == handle }
        }
    }

    /// A tester has enough of a set; `false` if it has none of that name.
    mutating func stop(_ id: AdvertisingSetID, of client: ClientID) -> Bool {
        guard let index = entries.firstIndex(where: { $0.client == client && $0.id == id }) else { return false }
        entries[index].set.wanted = nil
        return true
    }

    /// A tester is gone.
    mutating func stopAll(of client: ClientID) {
        for index in entries.indices where entries[index].client == client {
            entries[index].set.wanted = nil
            entries[index].isAwaited = false
        }
    }

    /// The commands that lead toward what is wanted, each for another set.
    mutating func steps(isAllowed: Bool, at now: Instant) -> [(set: AdvertisingHandle, step: AdvertisingSet.Step)] {
        guard !entries.isEmpty else { return [] }
        var steps: [(set: AdvertisingHandle, step: AdvertisingSet.Step)] = []
        for index in entries.indices {
            entries[index].set.isAllowed = isAllowed
            if let step = entries[index].set.step(at: now) { steps.append((entries[index].handle, step)) }
        }
        return steps
    }

    /// What testers are to hear that they have not heard yet; sets that are gone are forgotten.
    mutating func takeFindings() -> [Finding] {
        guard !entries.isEmpty else { return [] }
        var findings: [Finding] = []
        for index in entries.indices where !entries[index].isAnswered && entries[index].set.onAir != nil {
            entries[index].isAnswered = true
            if entries[index].isAwaited {
                findings.append(.init(entries[index].client, .setStarted(entries[index].id, nil)))
            }
        }
        for entry in entries where entry.set.isGone {
            guard entry.isAwaited else { continue }
            if !entry.isAnswered { findings.append(.init(entry.client, .setStarted(entry.id, .cancelled))) }
            findings.append(.init(entry.client, .setEnded(entry.id)))
        }
        entries.removeAll { $0.set.isGone }
        return findings
    }

    /// The command of a set that is under way was answered.
    mutating func answered(
        _ status: HCI.Status,
        in set: AdvertisingHandle,
        at now: Instant
    ) -> (next: AdvertisingSet.Step?, finding: Finding?) {
        guard let index = index(of: set) else { return (nil, nil) }
        switch entries[index].set.answered(status, at: now) {
        case .proceed: return (nil, nil)
        case .step(let step): return (step, nil)
        case .failed:
            guard !entries[index].isAnswered else { return (nil, nil) }
            let entry = entries[index]
            entries[index].set.wanted = nil
            entries[index].isAwaited = false
            return (nil, entry.isAwaited ? .init(entry.client, .setStarted(entry.id, .hci(status))) : nil)
        }
    }

    /// Whether a tester has this set.
    func uses(_ set: AdvertisingHandle) -> Bool { index(of: set) != nil }

    /// The sets that may be on the air.
    var on: [AdvertisingHandle] { entries.filter(\.set.isOn).map(\.handle) }

    /// The address that a set shows.
    func ownAddress(of set: AdvertisingHandle) -> OwnAddressKind? {
        index(of: set).flatMap { entries[$0].set.wanted?.parameters.ownAddress }
    }

    /// The controller has ended a set by itself, since a central has connected to it.
    mutating func ended(_ set: AdvertisingHandle) {
        guard let index = index(of: set) else { return }
        entries[index].set.ended()
        if entries[index].isDirected { entries[index].set.wanted = nil }
    }

    private func index(of set: AdvertisingHandle) -> Int? { entries.firstIndex { $0.handle == set } }
}
