import BLEHost

/// The connection state of one peripheral in one manager.
///
///                     connect                  connected                 connect
///     ┌──────────────┐ ───▶ ┌────────────┐ ─────────────▶ ┌───────────┐ ───────▶ ┌────────────┐
///     │ disconnected │      │ connecting │                │ connected │          │ confirming │
///     └──────────────┘ ◀─── └────────────┘ ◀─ reconnect ─ └───────────┘ ◀─────── └────────────┘
///            ▲        failed      │ cancel                      │ cancel  told
///            │                    ▼                             │
///            │  disconnected ┌─────────┐                        │
///            └────────────── │ closing │ ◀──────────────────────┘
///                            └─────────┘
///
/// A connection that is being confirmed ends like any other. Events of the host that the app's later requests have
/// overtaken are ignored.
struct PeripheralLink: Equatable {
    private enum State: Equatable {
        /// Neither connected nor connecting.
        case disconnected
        /// The host is connecting, with the last request; `nil` if an earlier launch of the app made it.
        case connecting(ConnectRequest?)
        case connected(ConnectRequest?)
        /// Connected. The app called `connect` again, and its delegate is about to be called.
        case confirming(ConnectRequest)
        /// The app has cancelled or disconnected, and may have called `connect` again.
        case closing(wasConnected: Bool, next: ConnectRequest?)
        /// The link was lost and the host is reconnecting; the delegate is being called.
        case lost(ConnectRequest?)
    }

    private var state: State

    /// Creates the state of an unconnected peripheral.
    init() { state = .disconnected }

    /// Creates the state of a peripheral that an earlier launch of the app connected or was connecting to.
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

    /// True if results of the peer still count.
    var acceptsAnswers: Bool {
        switch state {
        case .connected, .confirming, .closing(wasConnected: true, next: _): true
        case .disconnected, .connecting, .closing(wasConnected: false, next: _), .lost: false
        }
    }

    enum OnConnect: Equatable {
        /// Send a request to the host.
        case send
        /// Already connected: call the delegate with ``confirm()`` after this call has returned.
        case confirm
        /// Already connected, but with other options: as above, and update the host.
        case renewAndConfirm
        /// Already requested, but with other options: update the host.
        case renew
        /// Already requested, or deferred until the old connection has ended.
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
        /// The connection has ended or was cancelled since.
        case nothing
    }

    /// Confirms to the app that the peripheral was already connected.
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
        /// No longer wanted: send a request to the host.
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
        /// Report the disconnection that the app requested.
        case callDelegateOfDisconnection
        /// Report the disconnection, and connect again as the app requested.
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
        /// Report, and connect again as the app requested.
        case callDelegateAndConnect(ConnectRequest)
        /// Report the reconnection attempt; ``reconnect()`` or ``giveUp()`` follows.
        case callDelegateOfReconnecting
        /// Report the failure.
        case callDelegateOfFailure
        case ignore
    }

    /// Processes the end of the connection, wanted or not, with or without a reconnection attempt of the host.
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

    /// Records that the delegate knows of the reconnection attempt.
    mutating func reconnect() {
        if case .lost(let request) = state { state = .connecting(request) }
    }

    /// Cancels the reconnection, because the delegate cannot be told of it; returns whether to tell the host.
    mutating func giveUp() -> OnCancel {
        guard case .lost = state else { return .nothing }
        state = .disconnected
        return .send
    }

    /// Ends the connection because the radio is gone.
    mutating func radioLost() { state = .disconnected }
}
