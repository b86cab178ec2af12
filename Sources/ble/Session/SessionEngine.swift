import BLEHost
import CoreBluetooth
import CoreBluetoothExtras

/// The engine of `ble session`: takes lines with commands, and writes answers and events.
///
/// Commands to one device run one after the other, in the order of their lines, except `disconnect`, which cancels the
/// device's pending commands. Commands to different devices run at the same time. `write` may block: then the main
/// queue stops, and with it the delivery of events, so that the host reads no more from the radio.
@MainActor
final class SessionEngine: NSObject {
    /// The reason why a session ends.
    enum End: String {
        case endOfInput = "end_of_input"
        case interrupted
    }

    /// The maximum number of commands without an answer; ``take(_:)`` waits when it is reached.
    static let mostOpenCommands = 64
    /// The maximum number of devices; further `connect` commands fail.
    static let mostDevices = 64
    /// The minimum duration of a connection after which the pause before the next reconnection is the shortest again.
    static let stableTime = Duration.seconds(30)

    /// A command that has no answer yet.
    private struct Running {
        let number: Int
        let queue: String
        let task: Task<Void, Never>
    }

    let clock: any Clock<Duration>
    let write: (Fact) -> Void
    private(set) var manager: CBCentralManager!
    private(set) var devices: [SessionDevice] = []
    private var running: [Running] = []
    private var count = 0
    private var waiting: [CheckedContinuation<Void, Never>] = []
    var scan: SessionCommand?
    /// The device that the session serves.
    private var server: SessionPeripheral!
    private var channels: SessionChannels!
    private let capability: PairingCapability?
    /// The prompts and pairings; `nil` until they are needed.
    private var pairing: SessionPairing?
    var radio = RadioWatch(mayAppear: true)
    /// The time since the engine was created.
    let age: () -> Duration
    /// True once ``interrupt()`` has been called.
    private(set) var isInterrupted = false
    var isEnding = false

    /// Creates an engine.
    ///
    /// - Parameters:
    ///   - clock: Measures pauses and time limits.
    ///   - capability: The program's means of showing digits and answering questions; `nil` to receive no prompts.
    ///   - write: Called with each line of output, one after the other.
    init(
        clock: any Clock<Duration> = ContinuousClock(),
        pairing capability: PairingCapability? = nil,
        write: @escaping (Fact) -> Void
    ) {
        self.clock = clock
        self.capability = capability
        self.write = write
        age = clock.stopwatch()
        super.init()
        let emit = { [weak self] (event: String, fields: [String: Any]) in
            guard let self else { return }
            self.write(Fact(event, fields, text: ""))
        }
        server = SessionPeripheral(clock: clock, emit: emit)
        channels = SessionChannels(emit: emit)
        manager = CBCentralManager(delegate: self, queue: .main)
        _ = manager.observers.add { [weak self] event in
            guard case .peer(let peer, .valueNotified(let handle, let value), _) = event else { return }
            MainActor.assumeIsolated {
                guard let self, let device = self.devices.first(where: { $0.peripheral.peer == peer }) else { return }
                guard let found = device.subscriptions.first(where: { $0.valueHandle == handle }) else { return }
                self.emit("received", device, found, found.keys(of: Data(value)))
            }
        }
    }

    /// Waits for the radio, and writes `ready`.
    func start() async throws {
        try await Central(clock: clock).powerOn()
        try await manager.poweredOn()
        if capability != nil { _ = pairings }
        write(Fact("ready", ["protocol": 1], text: ""))
    }

    /// Starts the command in a line; returns when the caller may pass the next line.
    ///
    /// Blank lines are ignored. Other lines that are not valid commands are answered with a failure.
    func take(_ line: String) async {
        guard !line.allSatisfy(\.isWhitespace) else { return }
        do throws(SessionCommand.Invalid) {
            start(try SessionCommand(line))
        } catch {
            refuse(error)
        }
        while running.count >= Self.mostOpenCommands { await commandEnded() }
    }

    /// Answers a line that is not a command.
    func refuse(_ invalid: SessionCommand.Invalid) {
        var fields = SessionFailure(.invalid, invalid.reason).fields
        fields["id"] = invalid.id?.value
        fields["command"] = invalid.command
        write(Fact("failed", fields, text: ""))
    }

    /// Waits until every command is answered.
    func finish() async {
        while !running.isEmpty { await commandEnded() }
    }

    /// Cancels all commands, closes all channels, and withdraws the served device.
    func interrupt() {
        isInterrupted = true
        for command in running { command.task.cancel() }
        // Commands that wait for room to send end when their channel or device is closed.
        channels.closeAll()
        server.withdraw()
    }

    /// Ends the commands, the channels, the scan and the connections, and writes `ended`.
    func close(because end: End) async {
        isEnding = true
        for command in running { command.task.cancel() }
        await finish()
        channels.closeAll()
        server.withdraw()
        if manager.state == .poweredOn { manager.stopScan() }
        await withTaskGroup { group in
            for device in devices { group.addTask { try? await self.manager.disconnect(device.peripheral) } }
        }
        write(Fact("ended", ["reason": end.rawValue], text: ""))
    }

    private func commandEnded() async { await withCheckedContinuation { waiting.append($0) } }

    private func start(_ command: SessionCommand) {
        let queue = queue(of: command)
        if command.name == .disconnect {
            for other in running where other.queue == queue { other.task.cancel() }
        }
        run(in: queue) { [self] in
            var fields: [String: Any], event = "done"
            do {
                fields = try await perform(command)
            } catch {
                event = "failed"
                var failure = SessionFailure(error)
                if manager.state != .poweredOn, failure.code != .cancelled {
                    failure = SessionFailure(.radioOff, "The radio is off or lost.")
                }
                fields = failure.fields
            }
            fields["command"] = command.name.rawValue
            fields["id"] = command.id?.value
            write(Fact(event, fields, text: ""))
        }
    }

    /// Returns the name of the queue of a command: commands on the same queue run one after the other.
    private func queue(of command: SessionCommand) -> String {
        switch command.name {
        case .scan, .stop, .answer, .respond: ""
        case .serve, .withdraw, .update, .startAdvertising, .stopAdvertising, .publishChannel, .unpublishChannel:
            "\0served"
        case .send, .closeChannel: "\0channel \(command.channel)"
        case .connect, .disconnect, .discover, .read, .write, .subscribe, .unsubscribe, .rssi, .mtu, .pair, .unpair,
            .openChannel:
            (devices.first { $0.isCalled(command.device) }?.alias ?? command.device).lowercased()
        }
    }

    /// Runs `work` after all earlier work on the same queue.
    func run(in queue: String, _ work: @escaping @MainActor () async -> Void) {
        count += 1
        let number = count, before = running.last { $0.queue == queue }?.task
        let task = Task {
            await before?.value
            await work()
            running.removeAll { $0.number == number }
            let waiting = waiting
            self.waiting = []
            for continuation in waiting { continuation.resume() }
        }
        running.append(Running(number: number, queue: queue, task: task))
    }

    private func perform(_ command: SessionCommand) async throws -> [String: Any] {
        switch command.name {
        case .scan:
            guard manager.state == .poweredOn else { throw CommandError.radioLost }
            scan = command
            startScan()
            return [:]
        case .stop:
            scan = nil
            if manager.state == .poweredOn { manager.stopScan() }
            return [:]
        case .connect: return try await connect(command)
        case .disconnect: return try await disconnect(try device(command.device))
        case .answer:
            // Centrals that use the served device are not among the devices that the session has connected.
            let isConnected = devices.contains { $0.isCalled(command.device) }
            if !isConnected, let central = UUID(uuidString: command.device) {
                try pairings.answer(command, about: central, title: central.uuidString)
                return DeviceKeys(central).fields
            }
            let device = try device(command.device)
            try pairings.answer(command, about: device.identifier, title: device.peripheral.title)
            return device.keys
        case .pair:
            let device = try connectedDevice(command.device)
            let method = try await pairings.pair(with: device.peripheral)
            return device.keys.merging(["method": "\(method)"]) { $1 }
        case .unpair:
            let device = try device(command.device)
            try await pairings.removeBond(with: device.peripheral)
            return device.keys
        case .openChannel:
            let device = try connectedDevice(command.device)
            return try channels.add(try await device.openChannel(CBL2CAPPSM(command.psm)), device.keys)
        case .discover, .read, .write, .subscribe, .unsubscribe, .rssi, .mtu:
            return try await connectedDevice(command.device).perform(command)
        case .serve, .withdraw, .update, .respond, .startAdvertising, .stopAdvertising, .send, .closeChannel,
            .publishChannel, .unpublishChannel:
            try Task.checkCancellation()
            return try await performAsPeripheral(command)
        }
    }

    /// Performs a command about the served device, or about a channel.
    private func performAsPeripheral(_ command: SessionCommand) async throws -> [String: Any] {
        switch command.name {
        case .serve: return try await server.serve(command)
        case .withdraw: server.withdraw()
        case .startAdvertising: try await server.setAdvertising(true)
        case .stopAdvertising: try await server.setAdvertising(false)
        case .update:
            guard case .reference(let reference) = command.attribute else { break }
            return try await server.update(reference, to: command.value ?? Data())
        case .respond:
            try server.respond(command)
            return ["request": command.request]
        case .send:
            try await channels.send(command.value ?? Data(), on: command.channel)
            return ["channel": command.channel]
        case .closeChannel:
            try channels.close(command.channel)
            return ["channel": command.channel]
        case .publishChannel: return ["psm": Int(try await channels.publish(encrypted: command.encrypted))]
        case .unpublishChannel:
            try channels.unpublish(command.psm)
            return ["psm": command.psm]
        default: preconditionFailure("\(command.name) is not a command for the served device or a channel")
        }
        return [:]
    }

    /// Returns the device that `text` names; throws an error if it is not connected, or if the command was cancelled.
    private func connectedDevice(_ text: String) throws -> SessionDevice {
        try Task.checkCancellation()
        let device = try device(text)
        guard device.peripheral.state == .connected else {
            throw SessionFailure(.notConnected, "\(device.peripheral.title) is not connected.")
        }
        return device
    }

    /// The prompts and pairings, which are created on first use.
    private var pairings: SessionPairing {
        if let pairing { return pairing }
        let made = SessionPairing(capability) { [weak self] event, identifier, fields in
            guard let self else { return }
            let keys = devices.first { $0.identifier == identifier }?.keys ?? DeviceKeys(identifier).fields
            write(Fact(event, keys.merging(fields) { $1 }, text: ""))
        }
        pairing = made
        return made
    }

    /// Returns the device that `text` names; throws an error if it names none, or several.
    private func device(_ text: String) throws -> SessionDevice {
        let named = devices.filter { $0.isCalled(text) }
        guard named.count < 2 else {
            throw SessionFailure(.ambiguous, "“\(text)” matches several connected devices. Use the identifier.")
        }
        guard let device = named.first else {
            throw SessionFailure(.notConnected, "“\(text)” is not connected. Use the command “connect” first.")
        }
        return device
    }

    func startScan() {
        guard let scan, manager.state == .poweredOn else { return }
        let request = ScanRequest(
            services: scan.services.map(\.hostValue),
            allowsDuplicates: scan.duplicates,
            minimumRSSI: scan.minimumRSSI.map { Int8(clamping: $0) },
            namePrefix: nil
        )
        manager.scan(request) { _ in }
    }

    private func connect(_ command: SessionCommand) async throws -> [String: Any] {
        try Task.checkCancellation()
        if let known = devices.first(where: { $0.isCalled(command.device) }) {
            known.reconnects = command.reconnect
            return try await connect(known, within: command.timeout)
        }
        guard devices.count < Self.mostDevices else {
            throw SessionFailure(
                .busy,
                "\(Self.mostDevices) devices are in use, which is the limit. Disconnect one first."
            )
        }
        let finder = Central(clock: clock)
        let (identifier, name) = try await withTaskCancellationHandler {
            try await finder.powerOn()
            let found = try await finder.find(PeerReference(text: command.device), within: command.timeout)
            return (found.identifier, finder.name(of: found))
        } onCancel: {
            Task { @MainActor in finder.happened(.cancelled) }
        }
        try Task.checkCancellation()
        guard let peripheral = manager.retrievePeripherals(withIdentifiers: [identifier]).first else {
            throw SessionFailure(.notFound, "“\(command.device)” was found, but is no longer known. Connect again.")
        }
        let known = devices.first { $0.peripheral === peripheral }
        let device = known ?? SessionDevice(peripheral, alias: command.device, name: name)
        device.reconnects = command.reconnect
        return try await connect(device, within: command.timeout)
    }

    private func connect(_ device: SessionDevice, within time: Duration) async throws -> [String: Any] {
        if !devices.contains(where: { $0 === device }) { devices.append(device) }
        if device.peripheral.state == .connected { return device.keys }
        do {
            try await manager.connect(device.peripheral, timeout: time)
        } catch {
            if device.connectedSince == nil {
                forget(device)
            } else {
                // The event `connected` has been written, so the device stays until `disconnected` has been written,
                // too.
                device.reconnects = false
            }
            throw error
        }
        return device.keys
    }

    private func disconnect(_ device: SessionDevice) async throws -> [String: Any] {
        device.reconnects = false
        let keys = device.keys
        try await manager.disconnect(device.peripheral)
        forget(device)
        return keys
    }

    func forget(_ device: SessionDevice) {
        device.reconnects = false
        devices.removeAll { $0 === device }
    }

    /// Writes an event about a device and, if `characteristic` is not `nil`, one of the device's characteristics.
    ///
    /// `fields` contains the event's other keys.
    func emit(
        _ event: String,
        _ device: SessionDevice,
        _ characteristic: CBCharacteristic? = nil,
        _ fields: [String: Any] = [:]
    ) {
        let attribute = characteristic?.sessionKeys ?? [:]
        write(Fact(event, device.keys.merging(attribute) { $1 }.merging(fields) { $1 }, text: ""))
    }

    func device(of peripheral: CBPeripheral) -> SessionDevice? {
        devices.first { $0.peripheral === peripheral }
    }
}
