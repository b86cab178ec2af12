import BLEWire

extension Air {
    /// Executes the extended advertising commands; returns false for other commands.
    mutating func performExtendedAdvertising(_ command: HCICommandPacket, _ controller: Int) -> Bool {
        switch command {
        case .leSetExtendedAdvertisingParameters(let command):
            guard !rejectIfOtherGeneration(.extended, .leSetExtendedAdvertisingParameters, controller) else {
                return true
            }
            let (status, power) = controllers[controller].setParameters(command)
            let value = HCI.LESetExtendedAdvertisingParameters.Return(
                status: status,
                power: TransmitPower(dBm: Int8(clamping: power))
            )
            complete(HCI.LESetExtendedAdvertisingParameters.self, value, controller)
        case .leSetAdvertisingSetRandomAddress(let command):
            guard !rejectIfOtherGeneration(.extended, .leSetAdvertisingSetRandomAddress, controller) else {
                return true
            }
            let status = controllers[controller].setRandomAddress(command)
            complete(HCI.LESetAdvertisingSetRandomAddress.self, status, controller)
        case .leSetExtendedAdvertisingData(let command):
            guard !rejectIfOtherGeneration(.extended, .leSetExtendedAdvertisingData, controller) else { return true }
            let status = controllers[controller].setData(
                command.data,
                command.operation,
                isScanResponse: false,
                handle: command.set.wire
            )
            complete(HCI.LESetExtendedAdvertisingData.self, status, controller)
        case .leSetExtendedScanResponseData(let command):
            guard !rejectIfOtherGeneration(.extended, .leSetExtendedScanResponseData, controller) else { return true }
            let status = controllers[controller].setData(
                command.data,
                command.operation,
                isScanResponse: true,
                handle: command.set.wire
            )
            complete(HCI.LESetExtendedScanResponseData.self, status, controller)
        case .leSetExtendedAdvertisingEnable(let command):
            guard !rejectIfOtherGeneration(.extended, .leSetExtendedAdvertisingEnable, controller) else { return true }
            let status = command.enable ? enableSets(command, controller) : disableSets(command, controller)
            complete(HCI.LESetExtendedAdvertisingEnable.self, status, controller)
        default: return performSets(command, controller)
        }
        return true
    }

    private mutating func performSets(_ command: HCICommandPacket, _ controller: Int) -> Bool {
        switch command {
        case .leReadMaximumAdvertisingDataLength:
            guard !rejectIfOtherGeneration(.extended, .leReadMaximumAdvertisingDataLength, controller) else {
                return true
            }
            let length = UInt16(VirtualController.maximumAdvertisingData)
            complete(HCI.LEReadMaximumAdvertisingDataLength.self, .init(status: .success, length: length), controller)
        case .leReadNumberOfSupportedAdvertisingSets:
            guard !rejectIfOtherGeneration(.extended, .leReadNumberOfSupportedAdvertisingSets, controller) else {
                return true
            }
            let count = UInt8(VirtualController.maximumSets)
            complete(HCI.LEReadNumberOfSupportedAdvertisingSets.self, .init(status: .success, count: count), controller)
        case .leRemoveAdvertisingSet(let command):
            guard !rejectIfOtherGeneration(.extended, .leRemoveAdvertisingSet, controller) else { return true }
            let status: HCI.Status
            if let index = controllers[controller].setIndex(command.set.wire) {
                status = controllers[controller].sets[index].isEnabled ? .commandDisallowed : .success
                if status == .success { controllers[controller].sets.remove(at: index) }
            } else {
                status = .unknownAdvertisingIdentifier
            }
            complete(HCI.LERemoveAdvertisingSet.self, status, controller)
        case .leClearAdvertisingSets:
            guard !rejectIfOtherGeneration(.extended, .leClearAdvertisingSets, controller) else { return true }
            let isUsed = controllers[controller].sets.contains { $0.isEnabled }
            if !isUsed { controllers[controller].sets.removeAll() }
            complete(HCI.LEClearAdvertisingSets.self, isUsed ? .commandDisallowed : .success, controller)
        default: return false
        }
        return true
    }

    /// Enables advertising sets, or none if one of them cannot be enabled; returns the status.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.56.
    private mutating func enableSets(
        _ command: HCI.LESetExtendedAdvertisingEnable,
        _ controller: Int
    ) -> HCI.Status {
        guard !command.sets.isEmpty else { return .invalidCommandParameters }
        let handles = command.sets.map { $0.set.wire }
        guard Set(handles).count == handles.count else { return .invalidCommandParameters }
        for entry in command.sets {
            guard let index = controllers[controller].setIndex(entry.set.wire) else {
                return .unknownAdvertisingIdentifier
            }
            let set = controllers[controller].sets[index]
            if let refusal = controllers[controller].refusal(toEnable: set) { return refusal }
            if set.assembly != nil { return .commandDisallowed }
            if !set.fits(set.data) { return .packetTooLong }
            if !set.properties.contains(.legacy), set.properties.contains(.scannable), set.scanResponse.isEmpty {
                return .commandDisallowed
            }
            if set.properties.contains(.highDutyCycle) {
                guard let duration = entry.duration.duration, duration <= VirtualController.highDutyLimit else {
                    return .invalidCommandParameters
                }
            }
        }
        for entry in command.sets {
            guard let index = controllers[controller].setIndex(entry.set.wire) else { continue }
            controllers[controller].sets[index].enable(
                until: entry.duration.duration.map { now + $0 },
                eventLimit: Int(entry.maximumEvents)
            )
            beginAdvertising(controller, index)
        }
        return .success
    }

    private mutating func disableSets(
        _ command: HCI.LESetExtendedAdvertisingEnable,
        _ controller: Int
    ) -> HCI.Status {
        if command.sets.isEmpty {
            for index in controllers[controller].sets.indices { controllers[controller].sets[index].disable() }
            return .success
        }
        let indices = command.sets.map { controllers[controller].setIndex($0.set.wire) }
        guard !indices.contains(nil) else { return .unknownAdvertisingIdentifier }
        for case let index? in indices { controllers[controller].sets[index].disable() }
        return .success
    }
}
