import BLEHost
public import CoreBluetooth
import Foundation

extension CBManager {
    /// Returns when Bluetooth can be used, at once if it can.
    ///
    /// - Throws: `CBError.operationNotSupported` if there is no Bluetooth here, `CancellationError` if the task is
    ///   cancelled while it waits.
    public func poweredOn() async throws {
        try Task.checkCancellation()
        let answer = Answer<Void>()
        let id = observers.add { event in
            guard case .stateChanged(let state) = event else { return }
            answer.give(state)
        }
        defer { observers.remove(id) }
        switch state {
        case .poweredOn: return
        case .unsupported, .unauthorized: throw CBError(.operationNotSupported)
        default: try await answer.value
        }
    }
}

extension Answer<Void> {
    fileprivate func give(_ state: HostState) {
        switch state {
        case .poweredOn: give(.success(()))
        case .unsupported, .unauthorized: give(.failure(CBError(.operationNotSupported)))
        case .unknown, .resetting, .poweredOff: break
        }
    }
}

extension CBCentralManager {
    /// Connects to a device, and gives up after a while, if that is wished, or when the task is cancelled.
    ///
    /// When this returns, it is known what the connection is like.
    ///
    /// - Parameters:
    ///   - peripheral: Whom to connect to.
    ///   - timeout: How long to try; for ever if `nil`.
    ///   - reconnects: Whether the host connects again by itself when the connection is lost.
    /// - Throws: `CBError.connectionTimeout` when the time is over, other codes of `CBError` if there can be no
    ///   connection, `CancellationError` if the task was cancelled.
    public func connect(
        _ peripheral: CBPeripheral,
        timeout: Duration?,
        reconnects: Bool = false
    ) async throws {
        guard state == .poweredOn else { throw CBError(.notConnected) }
        let peer = peripheral.peer
        do {
            try await outcome(
                { event -> Result<Void, any Error>? in
                    let state = peripheral.state
                    // What it is like is told next, and is there when the task goes on.
                    if state == .connected { return peripheral.linkDetails.map { _ in .success(()) } }
                    // An earlier attempt may have ended, after which this one begins.
                    guard state != .connecting else { return nil }
                    return switch event {
                    case .connectFailed(peer, let failure): .failure(failure.error(about: .connection))
                    case .disconnected(peer, let failure, _):
                        .failure((failure ?? .cancelled).error(about: .connection))
                    default: nil
                    }
                },
                ask: { connect(peripheral, ConnectRequest(reconnects: reconnects, timeout: timeout)) }
            )
        } catch is CancellationError {
            cancelPeripheralConnection(peripheral)
            throw CancellationError()
        }
    }

    /// Ends a connection, pending or established, and returns when it has ended.
    ///
    /// It ends, too, if the task is cancelled while it waits.
    public func disconnect(_ peripheral: CBPeripheral) async throws {
        guard state == .poweredOn, peripheral.state != .disconnected else { return }
        let peer = peripheral.peer
        try await outcome(
            { event -> Result<Void, any Error>? in
                switch event {
                case .disconnected(peer, _, _), .connectFailed(peer, _): .success(())
                case nil where peripheral.state == .disconnected: .success(())
                default: nil
                }
            },
            ask: { cancelPeripheralConnection(peripheral) }
        )
    }
}
