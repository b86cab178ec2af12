package import BLEWire

/// The subscriptions of this host's clients to a peer's values, and the Client Characteristic Configurations written to
/// the peer.
///
/// The peer knows only one GATT client, this host. So the Client Characteristic Configuration of a value contains the
/// union of all subscriptions to it.
///
/// Core 6.0, Vol 3, Part G, 3.3.3.3.
package struct Subscriptions: Sendable {
    private struct Subscriber: Sendable {
        let client: ClientID
        var wants: Subscription
    }

    private struct Entry: Sendable {
        let value: AttributeHandle
        /// The handles of the characteristic's descriptors; `nil` if there are none.
        var descriptors: AttributeHandleRange?
        /// The handle of the Client Characteristic Configuration; `nil` if it is not known.
        var configuration: AttributeHandle?
        /// The value of the Client Characteristic Configuration that was last written to the peer.
        var written: UInt16 = 0
        var subscribers: [Subscriber] = []
    }

    /// The entries, in ascending order of handles.
    private var entries: [Entry] = []
    /// The index of the entry for the value that was received last.
    ///
    /// A peer often sends the same value repeatedly.
    private var lastReceived = 0

    package init() {}

    /// The value to write to a Client Characteristic Configuration, and what is known about that descriptor's location.
    package struct Change: Equatable, Sendable {
        package let bits: UInt16
        package let configuration: AttributeHandle?
        package let descriptors: AttributeHandleRange?
    }

    /// Returns the subscription of `client` to the value at `handle`.
    package func subscription(of client: ClientID, to handle: AttributeHandle) -> Subscription {
        entry(handle)?.subscribers.first { $0.client == client }?.wants ?? .none
    }

    /// Returns the subscribers of the value at `handle`.
    package func receivers(of handle: AttributeHandle) -> [ClientID] {
        var receivers: [ClientID] = []
        forEachReceiver(of: handle) { receivers.append($0) }
        return receivers
    }

    /// Calls `body` with each subscriber of the value at `handle`.
    package func forEachReceiver(of handle: AttributeHandle, _ body: (ClientID) -> Void) {
        guard let entry = index(handle) else { return }
        forEachReceiver(in: entry, body)
    }

    /// Returns the index of the entry for `handle`; `nil` if the value has no subscribers.
    @inline(__always)
    mutating func entryWithReceivers(_ handle: AttributeHandle) -> Int? {
        if !isEntry(lastReceived, of: handle) { lastReceived = position(handle) }
        guard isEntry(lastReceived, of: handle), !entries[lastReceived].subscribers.isEmpty else { return nil }
        return lastReceived
    }

    /// Returns the only subscriber of the entry at an index from ``entryWithReceivers(_:)``; `nil` if there are
    /// several.
    @inline(__always)
    mutating func onlyReceiver(in entry: Int) -> ClientID? {
        entries[entry].subscribers.count == 1 ? entries[entry].subscribers[0].client : nil
    }

    /// Calls `body` with each subscriber of the entry at an index from ``entryWithReceivers(_:)``.
    @inline(__always)
    func forEachReceiver(in entry: Int, _ body: (ClientID) -> Void) {
        for place in entries[entry].subscribers.indices { body(entries[entry].subscribers[place].client) }
    }

    /// Returns the change to write so that `client` has the subscription `wanted`; `nil` if nothing needs to be
    /// written.
    ///
    /// `descriptors` are the handles of the characteristic's descriptors; `nil` if there are none. The caller records
    /// the subscription with ``set(_:for:to:)``.
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

    /// Returns the change to write for the current subscribers of the value at `handle`; `nil` if nothing needs to be
    /// written, or if there is no entry for the value.
    package func change(of handle: AttributeHandle) -> Change? {
        guard let index = index(handle) else { return nil }
        return change(at: index, to: entries[index].subscribers.reduce(0) { $0 | $1.wants.rawValue })
    }

    private func change(at index: Int, to bits: UInt16) -> Change? {
        guard entries[index].written != bits else { return nil }
        return Change(
            bits: bits,
            configuration: entries[index].configuration,
            descriptors: entries[index].descriptors
        )
    }

    /// Records the subscription of `client`.
    package mutating func set(_ wanted: Subscription, for client: ClientID, to handle: AttributeHandle) {
        let index = makeEntry(handle)
        entries[index].subscribers.removeAll { $0.client == client }
        if wanted != .none { entries[index].subscribers.append(Subscriber(client: client, wants: wanted)) }
    }

    /// Records the handle of the Client Characteristic Configuration for the value at `handle`, and the value that was
    /// written to it.
    ///
    /// `nil` leaves a record unchanged.
    package mutating func note(configuration: AttributeHandle?, written bits: UInt16?, of handle: AttributeHandle) {
        guard let index = index(handle) else { return }
        if let configuration { entries[index].configuration = configuration }
        if let bits { entries[index].written = bits }
    }

    /// Removes `client`, and returns the handles of the values whose Client Characteristic Configuration has to be
    /// updated.
    package mutating func remove(_ client: ClientID) -> [AttributeHandle] {
        for index in entries.indices { entries[index].subscribers.removeAll { $0.client == client } }
        return entries.map(\.value).filter { change(of: $0) != nil }
    }

    /// Removes the entries of all values in `range`, because the peer no longer has these values.
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

    /// Returns the index of the entry for `handle`, or the index at which to insert it.
    private func position(_ handle: AttributeHandle) -> Int { entries.indices.bisected { entries[$0].value < handle } }
}
