import BLEWire

/// The advertising sets of test suites, which are separate from those of apps.
///
/// With legacy commands, the controller has only one advertisement. A test suite can use it while no app advertises,
/// and apps wait until the test suite has released it.
struct TesterAdvertisingSets {
    /// The maximum number of sets for test suites.
    ///
    /// The controller may support fewer.
    static let limit = 15

    private struct Entry {
        let client: ClientID
        let id: AdvertisingSetID
        let handle: AdvertisingHandle
        var set: AdvertisingSet
        /// True if the test suite has been informed that the set started.
        var isAnswered = false
        /// True if the test suite needs to be informed when the set ends.
        var isAwaited = true
        /// True if the set advertises to a single central; the first connection then ends it.
        let isDirected: Bool
    }

    private var entries: [Entry] = []
    private var usesExtendedCommands = false

    /// True if a test suite is using the only advertisement that a controller has with legacy commands.
    var hasTheOnlySet: Bool { !usesExtendedCommands && !entries.isEmpty }

    /// True if no set of a test suite is advertising, and no command about one is pending.
    var areOff: Bool { entries.allSatisfy(\.set.isOff) }

    /// The time to request the next steps; `nil` if nothing is due.
    var deadline: Instant? {
        var least: Instant?
        for entry in entries { least.bringForward(to: entry.set.deadline) }
        return least
    }

    /// Records that the controller was reset, which removes all sets.
    ///
    /// - Returns: The events for the test suites whose sets were removed.
    mutating func reset(usesExtendedCommands: Bool) -> [SuiteEvent] {
        let events = entries.filter(\.isAwaited).map { entry in
            SuiteEvent(entry.client, entry.isAnswered ? .setEnded(entry.id) : .setStarted(entry.id, .poweredOff))
        }
        self = Self()
        self.usesExtendedCommands = usesExtendedCommands
        return events
    }

    /// An event for a test suite.
    struct SuiteEvent {
        let client: ClientID
        let event: TesterEvent
        fileprivate init(_ client: ClientID, _ event: TesterEvent) { (self.client, self.event) = (client, event) }
    }

    /// Adds a set; returns the reason if the set is refused, otherwise `nil`.
    ///
    /// If the set is not refused, a ``SuiteEvent`` later reports whether it has started. `onlySetIsFree` is true if
    /// apps do not use the only advertisement that a controller has with legacy commands.
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

    /// Stops a set; returns `false` if the test suite has no set with this identifier.
    mutating func stop(_ id: AdvertisingSetID, of client: ClientID) -> Bool {
        guard let index = entries.firstIndex(where: { $0.client == client && $0.id == id }) else { return false }
        entries[index].set.wanted = nil
        return true
    }

    /// Stops all sets of a test suite whose session has ended.
    mutating func stopAll(of client: ClientID) {
        for index in entries.indices where entries[index].client == client {
            entries[index].set.wanted = nil
            entries[index].isAwaited = false
        }
    }

    /// Returns the next commands, at most one for each set.
    ///
    /// `isAllowed` is true if the sets may be advertised now.
    mutating func steps(isAllowed: Bool, at now: Instant) -> [(set: AdvertisingHandle, step: AdvertisingSet.Step)] {
        guard !entries.isEmpty else { return [] }
        var steps: [(set: AdvertisingHandle, step: AdvertisingSet.Step)] = []
        for index in entries.indices {
            entries[index].set.isAllowed = isAllowed
            if let step = entries[index].set.step(at: now) { steps.append((entries[index].handle, step)) }
        }
        return steps
    }

    /// Returns the events since the last call, and removes the sets that have ended.
    mutating func takeEvents() -> [SuiteEvent] {
        guard !entries.isEmpty else { return [] }
        var events: [SuiteEvent] = []
        for index in entries.indices where !entries[index].isAnswered && entries[index].set.onAir != nil {
            entries[index].isAnswered = true
            if entries[index].isAwaited {
                events.append(.init(entries[index].client, .setStarted(entries[index].id, nil)))
            }
        }
        for entry in entries where entry.set.isGone {
            guard entry.isAwaited else { continue }
            if !entry.isAnswered { events.append(.init(entry.client, .setStarted(entry.id, .cancelled))) }
            events.append(.init(entry.client, .setEnded(entry.id)))
        }
        entries.removeAll { $0.set.isGone }
        return events
    }

    /// Processes the completion of a set's pending command.
    ///
    /// - Returns: The set's next command, if there is one, and an event for the test suite if the set failed to start.
    mutating func answered(
        _ status: HCI.Status,
        in set: AdvertisingHandle,
        at now: Instant
    ) -> (next: AdvertisingSet.Step?, event: SuiteEvent?) {
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

    /// Returns whether this set belongs to a test suite.
    func uses(_ set: AdvertisingHandle) -> Bool { index(of: set) != nil }

    /// The sets that the controller may be advertising.
    var possiblyAdvertising: [AdvertisingHandle] { entries.filter(\.set.isOn).map(\.handle) }

    /// Returns the kind of address that a set advertises with; `nil` for the host's default.
    func ownAddress(of set: AdvertisingHandle) -> OwnAddressKind? {
        index(of: set).flatMap { entries[$0].set.wanted?.parameters.ownAddress }
    }

    /// Records that the controller ended a set because a central connected.
    mutating func ended(_ set: AdvertisingHandle) {
        guard let index = index(of: set) else { return }
        entries[index].set.ended()
        if entries[index].isDirected { entries[index].set.wanted = nil }
    }

    private func index(of set: AdvertisingHandle) -> Int? { entries.firstIndex { $0.handle == set } }
}
