import BLEHost
public import CoreBluetooth
import Foundation

extension CBManager {
    /// Waits until Bluetooth is on; returns immediately if it already is.
    ///
    /// - Throws: `CBError.operationNotSupported` if the machine has no Bluetooth or the app is not allowed to use it,
    ///   `CancellationError` if the task is cancelled.
    public func poweredOn() async throws {
        try Task.checkCancellation()
        let answer = PendingResult<Void>()
        let id = observers.add { event in
            guard case .stateChanged(let state) = event else { return }
            answer.resolve(for: state)
        }
        defer { observers.remove(id) }
        switch state {
        case .poweredOn: return
        case .unsupported, .unauthorized: throw CBError(.operationNotSupported)
        default: try await answer.value
        }
    }
}

extension PendingResult<Void> {
    fileprivate func resolve(for state: HostState) {
        switch state {
        case .poweredOn: resolve(.success(()))
        case .unsupported, .unauthorized: resolve(.failure(CBError(.operationNotSupported)))
        case .unknown, .resetting, .poweredOff: break
        }
    }
}

extension CBCentralManager {
    /// Connects to a device.
    ///
    /// The attempt ends after the timeout, if there is one, or when the task is cancelled. A task that is cancelled
    /// before the attempt begins has no effect on an existing connection.
    ///
    /// When this method returns, the details of the connection, such as `connectionParameters`, are known.
    ///
    /// - Parameters:
    ///   - peripheral: The peripheral to connect to.
    ///   - timeout: The time limit; `nil` for none.
    ///   - reconnects: True if the host should reconnect by itself whenever the connection is lost.
    /// - Throws: `CBError.connectionTimeout` after the time limit, `CBError.notConnected` if Bluetooth is off,
    ///   `CBError.unknownDevice` if the peripheral is no longer valid or belongs to another manager, other codes of
    ///   `CBError` if the connection fails, `CancellationError` if the task is cancelled.
    public func connect(
        _ peripheral: CBPeripheral,
        timeout: Duration?,
        reconnects: Bool = false
    ) async throws {
        guard state == .poweredOn else { throw CBError(.notConnected) }
        let peer = peripheral.peer
        var hasAsked = false
        do {
            try await firstResult(
                { event -> Result<Void, any Error>? in
                    let state = peripheral.state
                    // The details of the link follow in another event. Waiting for them ensures that the caller can
                    // read them.
                    if state == .connected { return peripheral.linkDetails.map { _ in .success(()) } }
                    // The event may be the end of an earlier attempt, while this attempt is still going on.
                    guard state != .connecting else { return nil }
                    return switch event {
                    case .connectFailed(peer, let failure): .failure(failure.error(about: .connection))
                    case .disconnected(peer, let failure, _):
                        .failure((failure ?? .cancelled).error(about: .connection))
                    default: nil
                    }
                },
                ask: {
                    let request = ConnectRequest(reconnects: reconnects, timeout: timeout)
                    guard connect(peripheral, request) else { throw refusal }
                    hasAsked = true
                }
            )
        } catch let error as CancellationError {
            if hasAsked { cancelPeripheralConnection(peripheral) }
            throw error
        }
    }

    /// Cancels a pending connection or ends an established one, and waits until it has ended.
    ///
    /// The connection ends even if the task is cancelled while it waits.
    ///
    /// - Throws: `CBError.notConnected` if Bluetooth is turned off during the wait, `CBError.unknownDevice` if the
    ///   peripheral belongs to another manager, `CancellationError` if the task is cancelled.
    public func disconnect(_ peripheral: CBPeripheral) async throws {
        guard state == .poweredOn, peripheral.state != .disconnected else { return }
        let peer = peripheral.peer
        try await firstResult(
            { event -> Result<Void, any Error>? in
                switch event {
                case .disconnected(peer, _, _), .connectFailed(peer, _): .success(())
                case nil where peripheral.state == .disconnected: .success(())
                default: nil
                }
            },
            ask: { guard endConnection(to: peripheral) else { throw refusal } }
        )
    }

    /// The error for a request that the manager has not accepted.
    private var refusal: CBError { CBError(state == .poweredOn ? .unknownDevice : .notConnected) }
}
