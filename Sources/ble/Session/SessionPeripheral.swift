import BLESimulation
import CoreBluetooth

/// The device that `ble session` serves, and the requests from centrals that it leaves to its caller to answer.
@MainActor
final class SessionPeripheral {
    /// The maximum number of unanswered requests; further requests are refused.
    private static let mostRequests = 64
    /// The maximum number of values that are kept in case centrals read them in several parts.
    private static let mostReads = 32
    /// The time after which a central gives up on a request.
    ///
    /// Core 6.0, Vol 3, Part F, 3.3.3.
    private static let answerTime = Duration.seconds(30)

    /// A request without an answer.
    private struct Open {
        let number: Int
        let request: ServedRequest
        /// The task that ends the request if it has no answer after ``answerTime``.
        let timer: Task<Void, any Error>
    }

    private let clock: any Clock<Duration>
    private let emit: (String, [String: Any]) -> Void
    private var device: DescribedPeripheral?
    /// The characteristics whose requests the program answers.
    private var asked: [CBMutableCharacteristic] = []
    private var requests: [Open] = []
    private var count = 0
    /// The values that the program returned for reads; the later parts of a long read continue with the same value.
    private var reads: [(central: UUID, characteristic: CBMutableCharacteristic, value: Data)] = []
    private var centrals: [UUID] = []

    /// Creates a peripheral that serves nothing.
    ///
    /// - Parameters:
    ///   - clock: Measures the time limits of requests, and the intervals between values.
    ///   - emit: Writes an event with its keys.
    init(clock: any Clock<Duration>, emit: @escaping (String, [String: Any]) -> Void) {
        (self.clock, self.emit) = (clock, emit)
    }

    /// Publishes a device and, unless the command says otherwise, advertises it; returns the keys of the answer.
    func serve(_ command: SessionCommand) async throws -> [String: Any] {
        guard device == nil else {
            throw SessionFailure(.busy, "The session already serves a device. Use “withdraw” first.")
        }
        let description = try command.peripheral()
        let made = DescribedPeripheral(description, advertises: command.advertise, clock: clock) { [weak self] in
            self?.report($0)
        }
        device = made
        do {
            asked = try command.asked.map { reference in
                guard let found = made.characteristic(reference) else { throw Self.missing(reference) }
                return found
            }
            try made.planFaults(command.faults)
            made.onRequest = { [weak self] in self?.receive($0) ?? false }
            made.onCentralsChange = { [weak self] in self?.changed($0) }
            try await wait(for: made) {}
        } catch {
            withdraw()
            throw error
        }
        return ["name": description.device.name]
    }

    /// Removes the device, and refuses its open requests.
    func withdraw() {
        for open in requests { end(open.number)?.refuse(.unlikelyError, by: device) }
        device?.stop()
        (device, asked, reads, centrals) = (nil, [], [], [])
    }

    /// Starts or stops advertising.
    func setAdvertising(_ advertises: Bool) async throws {
        let device = try served()
        guard advertises, !device.manager.isAdvertising else { return device.setAdvertising(advertises) }
        try await wait(for: device) { device.setAdvertising(true) }
    }

    /// Changes a value; returns the keys of the answer when the host has accepted the value for all subscribers.
    func update(_ reference: CharacteristicReference, to value: Data) async throws -> [String: Any] {
        let device = try served()
        guard let found = device.characteristic(reference) else { throw Self.missing(reference) }
        device.change(found, to: value, mustArrive: true)
        await device.valuesSent()
        guard self.device === device else { throw CommandError.cancelled }
        return found.keys
    }

    /// Answers a request from a central.
    func respond(_ command: SessionCommand) throws {
        let device = try served()
        guard let open = requests.first(where: { $0.number == command.request }) else {
            let what = "There is no open request \(command.request)"
            throw SessionFailure(.noRequest, "\(what): it was already answered, has ended, or never existed.")
        }
        if let code = command.errorCode {
            end(open.number)?.refuse(CBATTError.Code(rawValue: code) ?? .unlikelyError, by: device)
        } else if open.request.isWrite {
            guard command.value == nil else {
                throw SessionFailure(
                    .invalid,
                    "“value” is only for answers to reads. Leave it out to accept the write."
                )
            }
            if let request = end(open.number) { device.accept(request) }
        } else {
            guard let value = command.value else {
                throw SessionFailure(.invalid, "The answer to a read needs “value” or “error”.")
            }
            guard let request = end(open.number), let part = request.parts.first else { return }
            let central = request.central.identifier
            reads.removeAll { $0.central == central && $0.characteristic === part.characteristic }
            reads.append((central, part.characteristic, value))
            if reads.count > Self.mostReads { reads.removeFirst() }
            device.accept(request, value: value)
        }
    }

    /// Calls `start`, and waits until the device is published and, if it should be, advertised.
    ///
    /// Throws an error if the radio is lost, or if publishing or advertising fails.
    private func wait(for device: DescribedPeripheral, start: () -> Void) async throws {
        guard device.manager.state != .poweredOff else { throw CommandError.radioLost }
        let outcome = EventQueue<CommandError?>()
        device.onPublished = { outcome.add(nil) }
        device.onError = { outcome.add($0) }
        device.onRadioChange = { if $0 == .lost { outcome.add(.radioLost) } }
        defer {
            device.onPublished = nil
            device.onRadioChange = nil
            device.onError = { [weak self] in self?.fail($0) }
        }
        start()
        let error = await withTaskCancellationHandler {
            await outcome.next()
        } onCancel: {
            Task { @MainActor in outcome.add(.cancelled) }
        }
        if let error { throw error }
    }

    private func fail(_ error: CommandError) {
        emit("serving_failed", ["reason": "\(error)"])
        withdraw()
    }

    private func served() throws -> DescribedPeripheral {
        guard let device else {
            throw SessionFailure(.notServed, "The session serves no device. Use the command “serve” first.")
        }
        return device
    }

    private static func missing(_ reference: CharacteristicReference) -> SessionFailure {
        SessionFailure(.noAttribute, "The served device has no characteristic \(reference).")
    }

    /// Handles a request for a characteristic whose requests the program answers; returns false if the device must
    /// answer the request itself.
    ///
    /// The program receives the request, unless it is for a later part of a value that the program has returned, or too
    /// many requests are unanswered.
    private func receive(_ request: ServedRequest) -> Bool {
        guard request.expectsAnswer, let part = request.parts.first,
            request.parts.contains(where: { asked.contains($0.characteristic) })
        else { return false }
        let central = request.central.identifier
        if request.offset > 0,
            let read = reads.first(where: { $0.central == central && $0.characteristic === part.characteristic })
        {
            device?.accept(request, value: read.value)
            return true
        }
        guard requests.count < Self.mostRequests else {
            request.refuse(.insufficientResources, by: device)
            return true
        }
        count += 1
        let number = count
        let timer = Task { [weak self, clock] in
            try await clock.sleep(for: Self.answerTime)
            self?.expire(number, because: "The program did not answer within \(Self.answerTime.seconds) s.")
        }
        requests.append(Open(number: number, request: request, timer: timer))
        var fields = DeviceKeys(central).fields
        fields["request"] = number
        guard request.isWrite else {
            emit("read_requested", fields.merging(part.characteristic.keys) { $1 })
            return true
        }
        fields["writes"] = request.parts.map { part in
            part.characteristic.keys.merging(part.characteristic.keys(of: part.value)) { $1 }
        }
        emit("write_requested", fields)
        return true
    }

    /// Ends a request that was not answered, and reports the reason to the program.
    private func expire(_ number: Int, because reason: String) {
        if end(number) != nil { emit("request_ended", ["request": number, "reason": reason]) }
    }

    /// Removes an open request, and returns it; `nil` if the request is not open.
    private func end(_ number: Int) -> ServedRequest? {
        guard let index = requests.firstIndex(where: { $0.number == number }) else { return nil }
        let open = requests.remove(at: index)
        open.timer.cancel()
        return open.request
    }

    /// Reports which centrals have connected and disconnected.
    private func changed(_ connected: [CBCentral]) {
        let now = connected.map(\.identifier)
        for central in centrals where !now.contains(central) {
            for open in requests where open.request.central.identifier == central {
                expire(open.number, because: "The central disconnected.")
            }
            reads.removeAll { $0.central == central }
            emit("central_disconnected", DeviceKeys(central).fields)
        }
        for central in now where !centrals.contains(central) { emit("central_connected", DeviceKeys(central).fields) }
        centrals = now
    }

    /// The names of the session's events, by the names that ``DescribedPeripheral`` gives these events.
    private static let events = [
        "advertising": "advertising", "subscribed": "central_subscribed", "unsubscribed": "central_unsubscribed",
        "read": "central_read", "written": "central_wrote", "fault": "fault",
    ]

    private func report(_ fact: Fact) {
        guard let event = Self.events[fact.event] else { return }
        var fields = fact.fields
        fields["central"] = nil
        emit(event, fields)
    }
}

extension ServedRequest {
    /// Refuses the request, if the device that received it is still served.
    @MainActor
    fileprivate func refuse(_ code: CBATTError.Code, by device: DescribedPeripheral?) { device?.refuse(self, code) }
}
