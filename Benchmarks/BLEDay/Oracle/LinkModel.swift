import CoreBluetooth

/// A model of what Apple documents about the connection of one manager to one peripheral.
///
/// | the app calls | in the state | delegate calls |
/// | --- | --- | --- |
/// | `connect` | idle | eventually `didConnect` or, rarely, `didFailToConnect` |
/// | `connect` | connecting | no additional one |
/// | `connect` | connected | `didConnect` immediately, unless the connection ends before |
/// | `connect` | closing | the disconnection, and then as in the state idle |
/// | `cancelPeripheralConnection` | idle, closing | no additional one |
/// | `cancelPeripheralConnection` | connecting, connected | `didDisconnectPeripheral` without an error, once |
///
/// If a connection is lost, the disconnection is reported with an error. The state is then connecting if the app
/// requested automatic reconnection and its delegate can be told about it. If the radio is switched off, all
/// connections end without a delegate call.
struct LinkModel {
    enum State: Equatable {
        case idle, connecting, connected
        /// The app has cancelled the connection; `again` is true if it has requested a new one since then.
        case closing(again: Bool)
    }

    /// The app's wish for automatic reconnection.
    enum Wish {
        case once, again
        /// Unknown: the app made requests with and without reconnection during one attempt.
        case either
    }

    private(set) var state = State.idle
    /// The time at which the connection entered this state.
    private(set) var since = Duration.zero
    /// The time at which the app, already connected, requested the connection again; `nil` if it does not wait for
    /// `didConnect`.
    private(set) var asked: Duration?
    private var wish = Wish.once
    /// True if the delegate can be told about automatic reconnection.
    private let hearsOfReconnecting: Bool

    init(hearsOfReconnecting: Bool) { self.hearsOfReconnecting = hearsOfReconnecting }

    /// True if the app can make requests.
    var isConnected: Bool { state == .connected }

    /// True if answers to requests may arrive.
    var isOpen: Bool {
        switch state {
        case .connected, .closing: true
        case .idle, .connecting: false
        }
    }

    /// Continues with the connection of an earlier launch of the app, which may have requested automatic reconnection
    /// or not.
    ///
    /// - Returns: A complaint if this delegate call is not allowed; otherwise `nil`.
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

    /// Records a `didConnect` as the answer to a request for a connection that the app already had.
    ///
    /// - Returns: False if the app was not waiting for such an answer.
    mutating func confirmed() -> Bool {
        defer { asked = nil }
        return asked != nil
    }

    /// Records that a connection was established.
    ///
    /// - Returns: A complaint if this delegate call is not allowed; otherwise `nil`.
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

    /// Records a disconnection.
    ///
    /// An error is allowed if `isExcused`, because the link may have been lost.
    ///
    /// - Returns: A complaint if this delegate call is not allowed; otherwise `nil`.
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
            if isReconnecting { return "reconnecting although the app cancelled the connection" }
            return error == nil || isExcused ? nil : "cancelled with \(String(describing: error))"
        case .connected:
            state = isReconnecting ? .connecting : .idle
            guard let error else {
                return "disconnected without an error although the app did not cancel the connection"
            }
            guard error is CBError else { return "disconnected with \(error)" }
            guard isExcused else { return "disconnected without a cause: \(error)" }
            let mayAgain = hearsOfReconnecting && wish != .once, mustAgain = hearsOfReconnecting && wish == .again
            if isReconnecting && !mayAgain { return "reconnecting although the app did not request it" }
            return mustAgain && !isReconnecting ? "not reconnecting although the app requested it" : nil
        }
    }

    mutating func radioLost(at now: Duration) { (state, since, asked) = (.idle, now, nil) }

    /// The value that the peripheral's property `state` must have; `nil` if the documentation does not say.
    var publicState: CBPeripheralState? {
        switch state {
        case .idle: .disconnected
        case .connecting: .connecting
        case .connected: .connected
        case .closing: nil
        }
    }
}
