import BLEHost

/// How one manager stands to one peripheral.
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
/// A connection that is being confirmed ends as any other does.
/// Answers of the host that have been overtaken by what the app asked for in the meantime are recognised and ignored.
struct PeripheralLink: Equatable {
    private enum State: Equatable {
        /// No connection, and none wanted.
        case disconnected
        /// The host is trying, as it was asked to last; `nil` if an earlier launch of the app asked.
        case connecting(ConnectRequest?)
        case connected(ConnectRequest?)
        /// There is a connection, and the app asked for it once more, of which it is about to hear.
        case confirming(ConnectRequest)
        /// The app gave the connection up, pending or established, and may want it again afterwards.
        case closing(wasConnected: Bool, next: ConnectRequest?)
        /// The link was lost and the host is trying again, of which the app is just being told.
        case lost(ConnectRequest?)
    }

    private var state: State

    /// Begins without a connection.
    init() { state = .disconnected }

    /// Begins with a connection that an earlier launch of the app made or waited for.
    init(isConnected: Bool) { state = isConnected ? .connected(nil) : .connecting(nil) }

    var publicState: CBPeripheralState {
        switch state {
        case .disconnected, .lost, .closing(false, next: nil): .disconnected
        case .connecting, .closing(_, next: .some): .connecting
        case .connected, .confirming: .connected
        case .closing(true, next: nil): .disconnecting
        }
    }

    /// Whether requests have somewhere to go.
    var acceptsRequests: Bool { publicState == .connected }

    /// Whether answers of the peer still count.
    var acceptsAnswers: Bool {
        switch state {
        case .connected, .confirming, .closing(wasConnected: true, next: _): true
        case .disconnected, .connecting, .closing(wasConnected: false, next: _), .lost: false
        }
    }

    enum OnConnect: Equatable {
        /// Ask the host.
        case send
        /// It is there: tell, as soon as this call has returned, what ``confirm()`` says.
        case confirm
        /// It is there, but wanted in another way: the same, and have the host know.
        case renewAndConfirm
        /// It is wanted already, but in another way: have the host know.
        case renew
        /// It is wanted already, or will be asked for when the old connection is gone.
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
        /// Tell that there is a connection.
        case tell
        /// It has ended or been given up since.
        case nothing
    }

    /// The app can hear that the connection that it asked for was there already.
    mutating func confirm() -> OnConfirm {
        let action: OnConfirm
        (state, action) =
            switch state {
            case .confirming(let request): (.connected(request), .tell)
            case .disconnected, .connecting, .connected, .closing, .lost: (state, .nothing)
            }
        return action
    }

    enum OnCancel: Equatable {
        /// Tell the host.
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
        case tell
        /// Nobody wants it any more: tell the host.
        case undo
        case ignore
    }

    mutating func connected() -> OnConnected {
        let action: OnConnected
        (state, action) =
            switch state {
            case .connecting(let request): (.connected(request), .tell)
            case .disconnected: (state, .undo)
            case .connected, .confirming, .closing, .lost: (state, .ignore)
            }
        return action
    }

    enum OnFailed: Equatable {
        case tell
        /// Tell that it is gone, as the app wanted it.
        case tellOfDisconnection
        /// Tell that it is gone, and ask the host for the connection that the app wanted afterwards.
        case tellOfDisconnectionAndConnect(ConnectRequest)
        case ignore
    }

    mutating func failed() -> OnFailed {
        let action: OnFailed
        (state, action) =
            switch state {
            case .connecting: (.disconnected, .tell)
            case .closing(wasConnected: false, next: let next?):
                (.connecting(next), .tellOfDisconnectionAndConnect(next))
            case .closing(wasConnected: false, next: nil): (.disconnected, .tellOfDisconnection)
            case .disconnected, .connected, .confirming, .closing(wasConnected: true, next: _), .lost:
                (state, .ignore)
            }
        return action
    }

    enum OnDisconnected: Equatable {
        case tell
        /// Tell, and ask the host for the connection that the app wanted afterwards.
        case tellAndConnect(ConnectRequest)
        /// Tell that the host tries again; ``reconnect()`` or ``giveUp()`` follows.
        case tellOfReconnecting
        /// Tell that the connection was not made.
        case tellOfFailure
        case ignore
    }

    /// The connection ended, perhaps because the app wanted it so, and perhaps the host tries again by itself.
    mutating func disconnected(wanted: Bool, isReconnecting: Bool) -> OnDisconnected {
        let action: OnDisconnected
        (state, action) =
            switch state {
            case .connected(let request) where isReconnecting: (.lost(request), .tellOfReconnecting)
            case .confirming(let request) where isReconnecting: (.lost(request), .tellOfReconnecting)
            case .connected, .confirming: (.disconnected, .tell)
            case .closing(_, next: let next?): (.connecting(next), .tellAndConnect(next))
            case .closing(_, next: nil): (.disconnected, .tell)
            case .connecting where !wanted && !isReconnecting: (.disconnected, .tellOfFailure)
            case .connecting, .disconnected, .lost: (state, .ignore)
            }
        return action
    }

    /// The app has heard that the host tries again.
    mutating func reconnect() {
        if case .lost(let request) = state { state = .connecting(request) }
    }

    /// The app could not hear that the host tries again; whether to tell the host to stop.
    mutating func giveUp() -> OnCancel {
        guard case .lost = state else { return .nothing }
        state = .disconnected
        return .send
    }

    /// There is no radio any more, and with it no connection.
    mutating func radioLost() { state = .disconnected }
}
