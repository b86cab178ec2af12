import BLEWire

extension Air {
    /// Executes the legacy advertising commands; returns false for other commands.
    mutating func performAdvertising(_ command: HCICommandPacket, _ controller: Int) -> Bool {
        switch command {
        case .leSetAdvertisingParameters(let command):
            guard !rejectIfOtherGeneration(.legacy, .leSetAdvertisingParameters, controller) else { return true }
            let status = controllers[controller].setAdvertisingParameters(command)
            complete(HCI.LESetAdvertisingParameters.self, status, controller)
        case .leReadAdvertisingTransmitPower:
            guard !rejectIfOtherGeneration(.legacy, .leReadAdvertisingTransmitPower, controller) else { return true }
            let power = TransmitPower(dBm: Int8(clamping: controllers[controller].identity.transmitPower))
            complete(HCI.LEReadAdvertisingTransmitPower.self, .init(status: .success, power: power), controller)
        case .leSetAdvertisingData(let command):
            guard !rejectIfOtherGeneration(.legacy, .leSetAdvertisingData, controller) else { return true }
            controllers[controller].withLegacySet { $0.replace(command.data, isScanResponse: false) }
            complete(HCI.LESetAdvertisingData.self, .success, controller)
        case .leSetScanResponseData(let command):
            guard !rejectIfOtherGeneration(.legacy, .leSetScanResponseData, controller) else { return true }
            controllers[controller].withLegacySet { $0.replace(command.data, isScanResponse: true) }
            complete(HCI.LESetScanResponseData.self, .success, controller)
        case .leSetAdvertisingEnable(let command):
            guard !rejectIfOtherGeneration(.legacy, .leSetAdvertisingEnable, controller) else { return true }
            complete(HCI.LESetAdvertisingEnable.self, enableAdvertising(command.enable, controller), controller)
        default: return performExtendedAdvertising(command, controller)
        }
        return true
    }

    /// Starts or stops legacy advertising; returns the status.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.9.
    private mutating func enableAdvertising(_ enable: Bool, _ controller: Int) -> HCI.Status {
        controllers[controller].withLegacySet { _ in }
        guard enable else {
            controllers[controller].sets[0].disable()
            return .success
        }
        let set = controllers[controller].sets[0]
        guard !set.isEnabled else { return .success }
        if let refusal = controllers[controller].refusal(toEnable: set) { return refusal }
        let isHighDuty = set.properties.contains(.highDutyCycle)
        controllers[controller].sets[0].enable(
            until: isHighDuty ? now + VirtualController.highDutyLimit : nil,
            eventLimit: 0
        )
        beginAdvertising(controller, 0)
        return .success
    }

    /// Schedules the first event of a newly enabled set.
    mutating func beginAdvertising(_ controller: Int, _ set: Int) {
        // Without a random delay, sets that hosts enable at the same time would keep advertising at the same times.
        let delay = path.random.below(10_001) * 1_000
        scheduleAdvertising(controller, set, at: now + delay)
    }
}

extension VirtualController {
    /// The maximum duration of high duty cycle directed advertising: 1.28 s.
    ///
    /// Core 6.0, Vol 6, Part B, 4.4.2.4.2.
    static let highDutyLimit = Duration.milliseconds(1_280)

    /// Applies `change` to the only set that legacy commands use; if the set does not exist yet, creates it first.
    mutating func withLegacySet(_ change: (inout AdvertisingSet) -> Void) {
        if sets.isEmpty {
            sets.append(AdvertisingSet(handle: 0))
            sets[0].power = identity.transmitPower
        }
        change(&sets[0])
    }

    /// Sets the parameters of legacy advertising; returns the status.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.5.
    mutating func setAdvertisingParameters(_ command: HCI.LESetAdvertisingParameters) -> HCI.Status {
        if let set = sets.first, set.isEnabled { return .commandDisallowed }
        if command.type != .directedHighDutyCycle {
            guard let minimum = command.minimum.value, let maximum = command.maximum.value, minimum <= maximum else {
                return .invalidCommandParameters
            }
        }
        withLegacySet { set in
            set.properties = Self.properties(command.type)
            set.setInterval(Int64(command.minimum.wire))
            set.channels = command.channels.wire
            set.ownAddressKind = command.ownAddress.rawValue
            set.peer = command.peer
            set.filterPolicy = command.policy.rawValue
        }
        return .success
    }

    private static func properties(_ type: HCI.AdvertisingType) -> AdvertisingSet.Properties {
        switch type {
        case .connectable: [.legacy, .connectable, .scannable]
        case .directedHighDutyCycle: [.legacy, .connectable, .directed, .highDutyCycle]
        case .directedLowDutyCycle: [.legacy, .connectable, .directed]
        case .scannable: [.legacy, .scannable]
        case .nonConnectable: [.legacy]
        }
    }

    /// Returns the reason why a set cannot be enabled; `nil` if it can be.
    ///
    /// A set cannot be enabled if it has no own address, or if it is connectable and the controller has as many
    /// connections as it can have.
    func refusal(toEnable set: AdvertisingSet) -> HCI.Status? {
        guard hasOwnAddress(set.ownAddressKind, to: set.peer, identity: identityAddress(of: set)) else {
            return .invalidCommandParameters
        }
        if set.properties.contains(.connectable), isFull {
            return .connectionLimitExceeded
        }
        return nil
    }
}
