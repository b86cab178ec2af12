import BLERuntime
import CoreBluetooth
import CoreBluetoothExtras

/// The L2CAP channels of a session: those that it opens to devices, and those that centrals open to it.
///
/// A channel is read only while its events can be written to standard output. So a program that reads them slowly also
/// slows down the peer.
@MainActor
final class SessionChannels: NSObject {
    /// The maximum number of open channels; further ones are closed.
    private static let mostChannels = 64

    /// An open channel.
    private struct Open {
        let number: Int
        let keys: [String: Any]
        let pipe: ChannelPipe
    }

    private let emit: (String, [String: Any]) -> Void
    private var channels: [Open] = []
    private var count = 0
    /// The manager that publishes channels; `nil` until one is published.
    private var manager: CBPeripheralManager?
    /// The PSMs of the published channels.
    private var published: [CBL2CAPPSM] = []
    private var publishing: CheckedContinuation<CBL2CAPPSM, any Error>?

    /// Creates an empty collection of channels.
    ///
    /// - Parameter emit: Writes an event with its keys.
    init(emit: @escaping (String, [String: Any]) -> Void) { self.emit = emit }

    /// Publishes a channel that centrals can open; returns its PSM.
    ///
    /// Only one caller may wait at a time.
    func publish(encrypted: Bool) async throws -> CBL2CAPPSM {
        let manager = manager ?? CBPeripheralManager(delegate: self, queue: .main)
        self.manager = manager
        try await manager.poweredOn()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                publishing = continuation
                manager.publishL2CAPChannel(withEncryption: encrypted)
            }
        } onCancel: {
            Task { @MainActor in self.finishPublishing(.failure(CancellationError())) }
        }
    }

    /// Withdraws a published channel, and closes the channels that centrals have opened with its PSM.
    func unpublish(_ psm: Int) throws {
        guard let index = published.firstIndex(where: { Int($0) == psm }) else {
            throw SessionFailure(.noChannel, "The session has no published channel with PSM \(psm).")
        }
        manager?.unpublishL2CAPChannel(published.remove(at: index))
    }

    /// Adds an open channel.
    ///
    /// - Parameters:
    ///   - channel: The channel.
    ///   - keys: The keys that identify the peer.
    /// - Returns: The keys of the answer.
    /// - Throws: ``SessionFailure`` if there are too many channels.
    func add(_ channel: CBL2CAPChannel, _ keys: [String: Any]) throws -> [String: Any] {
        guard channels.count < Self.mostChannels else {
            channel.inputStream.close()
            channel.outputStream.close()
            throw SessionFailure(.busy, "\(Self.mostChannels) channels are open, which is the limit. Close one first.")
        }
        count += 1
        let number = count
        let keys = keys.merging(["channel": number, "psm": Int(channel.psm)]) { $1 }
        emit("channel_opened", keys)
        let pipe = ChannelPipe(channel, echoes: false) { [weak self] in self?.receive($0, on: number) }
        channels.append(Open(number: number, keys: keys, pipe: pipe))
        return keys
    }

    /// Sends octets; returns when the channel has accepted all of them.
    func send(_ value: Data, on number: Int) async throws {
        let open = try channel(number)
        await open.pipe.send(value)
        guard channels.contains(where: { $0.number == number }) else {
            throw SessionFailure(
                .disconnected,
                "Channel \(number) was closed after \(open.pipe.sent.withNoun("octet")) had been sent."
            )
        }
    }

    /// Closes the channel with this number; throws an error if the channel is not open.
    func close(_ number: Int) throws { try channel(number).pipe.close() }

    /// Closes all channels, and withdraws the published ones.
    func closeAll() {
        for open in channels { open.pipe.close() }
        if manager?.state == .poweredOn { for psm in published { manager?.unpublishL2CAPChannel(psm) } }
        published = []
    }

    private func channel(_ number: Int) throws -> Open {
        guard let open = channels.first(where: { $0.number == number }) else {
            throw SessionFailure(.noChannel, "There is no open channel \(number).")
        }
        return open
    }

    private func receive(_ event: ChannelPipe.Event, on number: Int) {
        guard let index = channels.firstIndex(where: { $0.number == number }) else { return }
        let open = channels[index]
        switch event {
        case .received(let data): emit("channel_received", open.keys.merging(["value": data.hexadecimal]) { $1 })
        case .ended(let error):
            channels.remove(at: index)
            var fields = open.keys
            (fields["sent"], fields["received"]) = (open.pipe.sent, open.pipe.received)
            fields["reason"] = error.map { SessionFailure($0).sentence }
            emit("channel_closed", fields)
        }
    }

    private func finishPublishing(_ result: Result<CBL2CAPPSM, any Error>) {
        publishing?.resume(with: result)
        publishing = nil
    }
}

extension SessionChannels: @MainActor CBPeripheralManagerDelegate {
    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        guard peripheral.state != .poweredOn else { return }
        finishPublishing(.failure(CommandError.radioLost))
        let lost = published
        published = []
        for psm in lost { emit("channel_unpublished", ["psm": Int(psm), "reason": "The radio was lost."]) }
    }

    func peripheralManager(
        _ peripheral: CBPeripheralManager,
        didPublishL2CAPChannel PSM: CBL2CAPPSM,
        error: (any Error)?
    ) {
        if let error { return finishPublishing(.failure(error)) }
        guard publishing != nil else { return peripheral.unpublishL2CAPChannel(PSM) }
        published.append(PSM)
        finishPublishing(.success(PSM))
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didOpen channel: CBL2CAPChannel?, error: (any Error)?) {
        guard let channel else { return }
        _ = try? add(channel, DeviceKeys(channel.peer.identifier).fields)
    }
}
