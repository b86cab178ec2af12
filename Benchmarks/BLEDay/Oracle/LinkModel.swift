import CoreBluetooth

/// What Apple documents of one peripheral's connection, as seen by one manager.
///
/// | the app calls | while it is | and hears |
/// | --- | --- | --- |
/// | `connect` | idle | `didConnect` or, rarely, `didFailToConnect`, in the end |
/// | `connect` | connecting | nothing more |
/// | `connect` | connected | `didConnect` at once, unless the connection ends before |
/// | `connect` | closing | that it ended, and then as if it had been idle |
/// | `cancelPeripheralConnection` | idle, closing | nothing more |
/// | `cancelPeripheralConnection` | connecting, connected | `didDisconnectPeripheral` without an error, once |
///
/// A connection that ends by itself is told with an error, and is connecting again if the app asked for that and its
/// delegate can hear of it. A radio that goes off ends all without a word.
struct LinkModel {
    enum State: Equatable {
        case idle, connecting, connected
        /// Given up; `again` if the app has asked for the connection since.
        case closing(again: Bool)
    }

    /// Whether the app asked that the connection be made again by itself.
    enum Wish {
        case once, again
        /// It asked for both while one attempt was under way.
        case either
    }

    private(set) var state = State.idle
    /// Since when it is in that state.
    private(set) var since = Duration.zero
    /// Since when the app waits to hear of the connection that it has, and asked for once more.
    private(set) var asked: Duration?
    private var wish = Wish.once
    /// Whether the delegate can hear that a connection is being made again.
    private let hearsOfReconnecting: Bool

    init(hearsOfReconnecting: Bool) { self.hearsOfReconnecting = hearsOfReconnecting }

    /// Whether requests have somewhere to go.
    var isConnected: Bool { state == .connected }

    /// Whether answers may come.
    var isOpen: Bool {
        switch state {
        case .connected, .closing: true
        case .idle, .connecting: false
        }
    }

    /// Goes on where an earlier launch of the app was; whether that asked for connections that are made again is open.
    ///
    /// - Returns: What is wrong, if anything.
    mutating func restored(_ restored: CBPeripheralState, at now: Duration) -> String? {
        guard state == .idle else { return "restored while \(state)" }
        switch restored {
        case .connecting: (state, wish, since) = (.connecting, .either, now)
        case .connected: (state, wish, since) = (.connected, .either, now)
        case .disconnected, .disconnecting: return "restored although there is no connection"
        @unknown default: return "restored in an unknown state"
        }
        return nil
    }

    mutating func connect(reconnects: Bool, at now: Duration) {
        let wanted: Wish = reconnects ? .again : .once
        switch state {
        case .idle: (state, wish, since) = (.connecting, wanted, now)
        case .connecting, .connected:
            if wish != wanted { wish = .either }
            if state == .connected { asked = asked ?? now }
        case .closing: (state, wish) = (.closing(again: true), wanted)
        }
    }

    mutating func cancel(at now: Duration) {
        asked = nil
        switch state {
        case .idle: break
        case .connecting, .connected: (state, since) = (.closing(again: false), now)
        case .closing: state = .closing(again: false)
        }
    }

    /// - Returns: Whether the app hears of the connection that it has, since it asked for it.
    mutating func confirmed() -> Bool {
        defer { asked = nil }
        return asked != nil
    }

    /// - Returns: What is wrong, if anything.
    mutating func connected(at now: Duration) -> String? {
        guard state == .connecting else { return "connected while \(state)" }
        (state, since) = (.connected, now)
        return nil
    }

    mutating func failed(_ error: (any Error)?, at now: Duration) -> String? {
        guard state == .connecting else { return "failed to connect while \(state)" }
        (state, since) = (.idle, now)
        return error == nil ? "failed to connect without an error" : nil
    }

    /// Takes the end of a connection, excused if the link may have been lost.
    ///
    /// - Returns: What is wrong, if anything.
    mutating func disconnected(
        _ error: (any Error)?,
        isReconnecting: Bool,
        isExcused: Bool,
        at now: Duration
    ) -> String? {
        defer { (since, asked) = (now, nil) }
        switch state {
        case .idle, .connecting: return "disconnected while \(state)"
        case .closing(let again):
            state = again ? .connecting : .idle
            if isReconnecting { return "reconnecting although the app gave up" }
            return error == nil || isExcused ? nil : "given up with \(String(describing: error))"
        case .connected:
            state = isReconnecting ? .connecting : .idle
            guard let error else { return "disconnected without an error although nobody gave up" }
            guard error is CBError else { return "disconnected with \(error)" }
            guard isExcused else { return "disconnected without a cause: \(error)" }
            let mayAgain = hearsOfReconnecting && wish != .once, mustAgain = hearsOfReconnecting && wish == .again
            if isReconnecting && !mayAgain { return "reconnecting, which nobody asked for" }
            return mustAgain && !isReconnecting ? "not reconnecting, which was asked for" : nil
        }
    }

    mutating func radioLost(at now: Duration) { (state, since, asked) = (.idle, now, nil) }

    /// What the property says in this state; `nil` if the documents leave it open.
    var publicState: CBPeripheralState? {
        switch state {
        case .idle: .disconnected
        case .connecting: .connecting
        case .connected: .connected
        case .closing: nil
        }
    }
}
