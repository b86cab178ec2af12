package import BLEWire

/// Which clients of this host want to hear of which values of a peer, and what the peer has been told.
///
/// The peer knows one client only, this host: its Client Characteristic Configuration holds what any of them wants.
///
/// Core 6.0, Vol 3, Part G, 3.3.3.3.
package struct Subscriptions: Sendable {
    private struct Subscriber: Sendable {
        let client: ClientID
        var wants: Subscription
    }

    private struct Entry: Sendable {
        let value: AttributeHandle
        /// Where the descriptors of the characteristic are.
        var descriptors: AttributeHandleRange?
        /// The Client Characteristic Configuration, once it has been found.
        var configuration: AttributeHandle?
        /// What the peer has been told last.
        var told: UInt16 = 0
        var subscribers: [Subscriber] = []
    }

    /// In ascending order of handles.
    private var entries: [Entry] = []
    /// Where what was heard of last is: a peer mostly sends the same value again.
    private var lastHeard = 0

    package init() {}

    /// What has to be written, and where.
    package struct Change: Equatable, Sendable {
        package let bits: UInt16
        package let configuration: AttributeHandle?
        package let descriptors: AttributeHandleRange?
    }

    /// What `client` gets of the value at `handle`.
    package func subscription(of client: ClientID, to handle: AttributeHandle) -> Subscription {
        entry(handle)?.subscribers.first { $0.client == client }?.wants ?? .none
    }

    /// The clients that hear of the value at `handle`.
    package func receivers(of handle: AttributeHandle) -> [ClientID] {
        var receivers: [ClientID] = []
        forEachReceiver(of: handle) { receivers.append($0) }
        return receivers
    }

    /// Calls `body` with each client that hears of the value at `handle`.
    package func forEachReceiver(of handle: AttributeHandle, _ body: (ClientID) -> Void) {
        guard let entry = index(handle) else { return }
        forEachReceiver(in: entry, body)
    }

    /// Where what is kept of the value at `handle` is, if a client hears of it.
    @inline(__always)
    mutating func entryWithReceivers(_ handle: AttributeHandle) -> Int? {
        if !isEntry(lastHeard, of: handle) { lastHeard = position(handle) }
        guard isEntry(lastHeard, of: handle), !entries[lastHeard].subscribers.isEmpty else { return nil }
        return lastHeard
    }

    /// The client that hears of a value, of which ``entryWithReceivers(_:)`` told, if it is one alone.
    @inline(__always)
    mutating func onlyReceiver(in entry: Int) -> ClientID? {
        entries[entry].subscribers.count == 1 ? entries[entry].subscribers[0].client : nil
    }

    /// Calls `body` with each client that hears of a value, of which ``entryWithReceivers(_:)`` told.
    @inline(__always)
    func forEachReceiver(in entry: Int, _ body: (ClientID) -> Void) {
        for place in entries[entry].subscribers.indices { body(entries[entry].subscribers[place].client) }
    }

    /// What the peer must be told so that `client` gets `wanted`; `nil` if it knows that already.
    package mutating func change(
        for client: ClientID,
        to wanted: Subscription,
        of handle: AttributeHandle,
        in descriptors: AttributeHandleRange?
    ) -> Change? {
        let index = makeEntry(handle)
        entries[index].descriptors = descriptors
        let others = entries[index].subscribers.filter { $0.client != client }
        return change(at: index, to: others.reduce(wanted.rawValue) { $0 | $1.wants.rawValue })
    }

    /// What the peer must be told after clients went away; `nil` if it knows that already.
    package func change(of handle: AttributeHandle) -> Change? {
        guard let index = index(handle) else { return nil }
        return change(at: index, to: entries[index].subscribers.reduce(0) { $0 | $1.wants.rawValue })
    }

    private func change(at index: Int, to bits: UInt16) -> Change? {
        guard entries[index].told != bits else { return nil }
        return Change(
            bits: bits,
            configuration: entries[index].configuration,
            descriptors: entries[index].descriptors
        )
    }

    /// Notes what `client` gets from now on.
    package mutating func set(_ wanted: Subscription, for client: ClientID, to handle: AttributeHandle) {
        let index = makeEntry(handle)
        entries[index].subscribers.removeAll { $0.client == client }
        if wanted != .none { entries[index].subscribers.append(Subscriber(client: client, wants: wanted)) }
    }

    /// Notes where the configuration is, and what it holds now if that was written.
    package mutating func note(configuration: AttributeHandle?, told bits: UInt16?, of handle: AttributeHandle) {
        guard let index = index(handle) else { return }
        if let configuration { entries[index].configuration = configuration }
        if let bits { entries[index].told = bits }
    }

    /// Forgets `client`, and returns the values about which the peer now knows too much.
    package mutating func remove(_ client: ClientID) -> [AttributeHandle] {
        for index in entries.indices { entries[index].subscribers.removeAll { $0.client == client } }
        return entries.map(\.value).filter { change(of: $0) != nil }
    }

    /// Forgets everything about values in `range`, which are no more what they were.
    package mutating func removeAll(in range: AttributeHandleRange) {
        entries.removeAll { range.contains($0.value) }
    }

    private func index(_ handle: AttributeHandle) -> Int? {
        let index = position(handle)
        return isEntry(index, of: handle) ? index : nil
    }

    @inline(__always)
    private func isEntry(_ index: Int, of handle: AttributeHandle) -> Bool {
        index < entries.count && entries[index].value.wire == handle.wire
    }

    private func entry(_ handle: AttributeHandle) -> Entry? { index(handle).map { entries[$0] } }

    private mutating func makeEntry(_ handle: AttributeHandle) -> Int {
        let index = position(handle)
        if index == entries.count || entries[index].value != handle {
            entries.insert(Entry(value: handle), at: index)
        }
        return index
    }

    /// Where the entry of `handle` is or belongs.
    private func position(_ handle: AttributeHandle) -> Int { entries.indices.bisected { entries[$0].value < handle } }
}
