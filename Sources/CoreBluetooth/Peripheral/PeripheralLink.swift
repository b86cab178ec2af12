import BLEHost

/// The connection state of one peripheral in one manager.
///
///                     connect                  connected                 connect
///     ┌──────────────┐ ───▶ ┌────────────┐ ─────────────▶ ┌───────────┐ ───────▶ ┌────────────┐
///     │ disconnected │      │ connecting │                │ connected │          │ confirming │
///     └──────────────┘ ◀─── └────────────┘ ◀─ reconnect ─ └───────────┘ ◀─────── └────────────┘
///            ▲        failed      │ cancel                      │ cancel  confirm
///            │                    ▼                             │
///            │  disconnected ┌─────────┐                        │
///            └────────────── │ closing │ ◀──────────────────────┘
///                            └─────────┘
///
/// A connection in the state `confirming` ends like one in the state `connected`. An event from the host is ignored if
/// the app has since made a request that contradicts it.
struct PeripheralLink: Equatable {
    private enum State: Equatable {
        /// Neither connected nor connecting.
        case disconnected
        /// The host is connecting, with the options of this request; `nil` if an earlier launch of the app made the
        /// request.
        case connecting(ConnectRequest?)
        case connected(ConnectRequest?)
        /// Connected; the app has called `connect` again, and the delegate is about to receive another `didConnect`.
        case confirming(ConnectRequest)
        /// The app has cancelled the connection or the attempt, and the host has not confirmed that yet.
        ///
        /// `wasConnected` is true if there was a connection to cancel. `next` is the new request if the app has since
        /// called `connect` again.
        case closing(wasConnected: Bool, next: ConnectRequest?)
        /// The link was lost, the host is reconnecting, and the delegate is being called.
        ///
        /// The value is the request for the lost connection; `nil` if an earlier launch of the app made the request.
        case lost(ConnectRequest?)
    }

    private var state: State

    /// Creates the state of an unconnected peripheral.
    init() { state = .disconnected }

    /// Creates the state of a peripheral that an earlier launch of the app was connected or connecting to.
    init(isConnected: Bool) { state = isConnected ? .connected(nil) : .connecting(nil) }

    var publicState: CBPeripheralState {
        switch state {
        case .disconnected, .lost, .closing(false, next: nil): .disconnected
        case .connecting, .closing(_, next: .some): .connecting
        case .connected, .confirming: .connected
        case .closing(true, next: nil): .disconnecting
        }
    }

    /// True if requests can be sent.
    var acceptsRequests: Bool { publicState == .connected }

    /// True if results and events from the peer are still processed.
    var acceptsAnswers: Bool {
        switch state {
        case .connected, .confirming, .closing(wasConnected: true, next: _): true
        case .disconnected, .connecting, .closing(wasConnected: false, next: _), .lost: false
        }
    }

    enum OnConnect: Equatable {
        /// Send a request to the host.
        case send
        /// Already connected: use ``confirm()`` to call the delegate after the app's call of `connect` has returned.
        case confirm
        /// Already connected, but with other options: do the same as for `confirm`, and send the new options to the
        /// host.
        case renewAndConfirm
        /// Already requested, but with other options: send the new options to the host.
        case renew
        /// Nothing to send now: the connection is already requested, or is requested when the old connection has ended.
        case nothing
    }

    mutating func connect(_ request: ConnectRequest) -> OnConnect {
        let action: OnConnect
        (state, action) =
            switch state {
            case .disconnected, .lost: (.connecting(request), .send)
            case .connected(let known): (.confirming(request), known == request ? .confirm : .renewAndConfirm)
            case .connecting(let known): (.connecting(request), known == request ? .nothing : .renew)
            case .confirming(let known): (.confirming(request), known == request ? .nothing : .renew)
            case .closing(let wasConnected, next: _): (.closing(wasConnected: wasConnected, next: request), .nothing)
            }
        return action
    }

    enum OnConfirm: Equatable {
        /// Call the delegate.
        case callDelegate
        /// The connection has since ended or been cancelled.
        case nothing
    }

    /// Confirms the existing connection that the app has requested again.
    ///
    /// Returns whether to call the delegate for the connection.
    mutating func confirm() -> OnConfirm {
        let action: OnConfirm
        (state, action) =
            switch state {
            case .confirming(let request): (.connected(request), .callDelegate)
            case .disconnected, .connecting, .connected, .closing, .lost: (state, .nothing)
            }
        return action
    }

    enum OnCancel: Equatable {
        /// Send a request to the host.
        case send
        case nothing
    }

    mutating func cancel() -> OnCancel {
        let action: OnCancel
        (state, action) =
            switch state {
            case .disconnected: (state, .nothing)
            case .connecting, .lost: (.closing(wasConnected: false, next: nil), .send)
            case .connected, .confirming: (.closing(wasConnected: true, next: nil), .send)
            case .closing(let wasConnected, next: _): (.closing(wasConnected: wasConnected, next: nil), .nothing)
            }
        return action
    }

    enum OnConnected: Equatable {
        case callDelegate
        /// The app no longer wants the connection: tell the host to end it.
        case undo
        case ignore
    }

    mutating func connected() -> OnConnected {
        let action: OnConnected
        (state, action) =
            switch state {
            case .connecting(let request): (.connected(request), .callDelegate)
            case .disconnected: (state, .undo)
            case .connected, .confirming, .closing, .lost: (state, .ignore)
            }
        return action
    }

    enum OnFailed: Equatable {
        case callDelegate
        /// Report to the delegate the disconnection that the app requested.
        case callDelegateOfDisconnection
        /// Report the disconnection to the delegate, and connect again, as the app has since requested.
        case callDelegateOfDisconnectionAndConnect(ConnectRequest)
        case ignore
    }

    mutating func failed() -> OnFailed {
        let action: OnFailed
        (state, action) =
            switch state {
            case .connecting: (.disconnected, .callDelegate)
            case .closing(wasConnected: false, next: let next?):
                (.connecting(next), .callDelegateOfDisconnectionAndConnect(next))
            case .closing(wasConnected: false, next: nil): (.disconnected, .callDelegateOfDisconnection)
            case .disconnected, .connected, .confirming, .closing(wasConnected: true, next: _), .lost:
                (state, .ignore)
            }
        return action
    }

    enum OnDisconnected: Equatable {
        case callDelegate
        /// Report the disconnection to the delegate, and connect again, as the app has since requested.
        case callDelegateAndConnect(ConnectRequest)
        /// Report to the delegate that the link was lost and the host is reconnecting; ``reconnect()`` or ``giveUp()``
        /// follows.
        case callDelegateOfReconnecting
        /// Report to the delegate that the connection attempt has failed.
        case callDelegateOfFailure
        case ignore
    }

    /// Processes the end of the connection.
    ///
    /// `wanted` is true if the app has requested the disconnection; `isReconnecting` is true if the host tries to
    /// reconnect.
    mutating func disconnected(wanted: Bool, isReconnecting: Bool) -> OnDisconnected {
        let action: OnDisconnected
        (state, action) =
            switch state {
            case .connected(let request) where isReconnecting: (.lost(request), .callDelegateOfReconnecting)
            case .confirming(let request) where isReconnecting: (.lost(request), .callDelegateOfReconnecting)
            case .connected, .confirming: (.disconnected, .callDelegate)
            case .closing(_, next: let next?): (.connecting(next), .callDelegateAndConnect(next))
            case .closing(_, next: nil): (.disconnected, .callDelegate)
            case .connecting where !wanted && !isReconnecting: (.disconnected, .callDelegateOfFailure)
            case .connecting, .disconnected, .lost: (state, .ignore)
            }
        return action
    }

    /// Records that the delegate is being called with `isReconnecting: true`.
    ///
    /// The link is then connecting, so ``giveUp()`` no longer cancels the reconnection.
    mutating func reconnect() {
        if case .lost(let request) = state { state = .connecting(request) }
    }

    /// Cancels the reconnection if no delegate method has reported it.
    ///
    /// Returns whether to send the cancellation to the host.
    mutating func giveUp() -> OnCancel {
        guard case .lost = state else { return .nothing }
        state = .disconnected
        return .send
    }

    /// Ends the connection, because the radio is gone or switched off.
    mutating func radioLost() { state = .disconnected }
}
