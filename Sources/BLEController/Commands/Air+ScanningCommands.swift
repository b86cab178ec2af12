import BLEWire

extension Air {
    /// Executes the scanning and initiating commands; returns false for other commands.
    mutating func performScanning(_ command: HCICommandPacket, _ controller: Int) -> Bool {
        switch command {
        case .leSetScanParameters(let command):
            guard !rejectIfOtherGeneration(.legacy, .leSetScanParameters, controller) else { return true }
            complete(HCI.LESetScanParameters.self, controllers[controller].setScanParameters(command), controller)
        case .leSetScanEnable(let command):
            guard !rejectIfOtherGeneration(.legacy, .leSetScanEnable, controller) else { return true }
            let filter: Scanner.Duplicates = command.filterDuplicates ? .filtered : .reported
            let status = enableScan(command.enable, filter, duration: nil, period: nil, controller)
            complete(HCI.LESetScanEnable.self, status, controller)
        case .leSetExtendedScanParameters(let command):
            guard !rejectIfOtherGeneration(.extended, .leSetExtendedScanParameters, controller) else { return true }
            complete(
                HCI.LESetExtendedScanParameters.self,
                controllers[controller].setScanParameters(command),
                controller
            )
        case .leSetExtendedScanEnable(let command):
            guard !rejectIfOtherGeneration(.extended, .leSetExtendedScanEnable, controller) else { return true }
            complete(HCI.LESetExtendedScanEnable.self, enableExtendedScan(command, controller), controller)
        case .leCreateConnection(let command):
            guard !rejectIfOtherGeneration(.legacy, .leCreateConnection, controller) else { return true }
            createConnection(Initiator(command), .leCreateConnection, controller)
        case .leExtendedCreateConnection(let command):
            guard !rejectIfOtherGeneration(.extended, .leExtendedCreateConnection, controller) else { return true }
            createConnection(Initiator(command), .leExtendedCreateConnection, controller)
        case .leCreateConnectionCancel: cancelConnection(controller)
        default: return false
        }
        return true
    }

    private mutating func enableExtendedScan(
        _ command: HCI.LESetExtendedScanEnable,
        _ controller: Int
    ) -> HCI.Status {
        let (duration, period) = (command.duration.duration, command.period.duration)
        if command.enable {
            if let duration, let period, duration >= period { return .invalidCommandParameters }
            if command.filterDuplicates == .resetEachPeriod, duration == nil || period == nil {
                return .invalidCommandParameters
            }
        }
        let filter = Scanner.Duplicates(rawValue: command.filterDuplicates.rawValue) ?? .reported
        return enableScan(command.enable, filter, duration: duration, period: period, controller)
    }

    private mutating func enableScan(
        _ enable: Bool,
        _ filter: Scanner.Duplicates,
        duration: Duration?,
        period: Duration?,
        _ controller: Int
    ) -> HCI.Status {
        defer { refreshListening(controller) }
        guard enable else {
            controllers[controller].scanner.disable()
            return .success
        }
        guard controllers[controller].hasOwnAddress(controllers[controller].scanner.ownAddressKind, to: nil) else {
            return .invalidCommandParameters
        }
        controllers[controller].scanner.duplicates = filter
        controllers[controller].scanner.isExtended = controllers[controller].generation == .extended
        controllers[controller].scanner.enable(duration: duration, period: period, at: now)
        return .success
    }

    /// Ends, pauses or resumes a scan, as its duration and period require.
    mutating func runScan(_ controller: Int, at now: Instant) {
        let result = controllers[controller].scanner.expire(at: now)
        if result == .timedOut { emit(.leScanTimeout, to: controller, at: now) }
        refreshListening(controller)
    }

    /// Starts the creation of a connection; `initiator` is `nil` if the parameters of the command are invalid.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.12 and 7.8.66.
    private mutating func createConnection(_ initiator: Initiator?, _ opcode: HCI.Opcode, _ controller: Int) {
        guard controllers[controller].initiator == nil else {
            return status(.commandDisallowed, of: opcode, controller)
        }
        guard var initiator,
            controllers[controller].hasOwnAddress(initiator.ownAddressKind, to: initiator.target.address)
        else { return status(.invalidCommandParameters, of: opcode, controller) }
        let phys = VirtualController.supportedPHYs(controllers[controller].identity.profile.features)
        guard initiator.terms.allSatisfy({ phys >> ($0.phy - 1) & 1 == 1 }) else {
            return status(.unsupportedFeatureOrParameterValue, of: opcode, controller)
        }
        guard !controllers[controller].isFull else {
            return status(.connectionLimitExceeded, of: opcode, controller)
        }
        let own = controllers[controller].identityAddress(initiator.ownAddressKind)
        if let peer = initiator.target.address, controllers[controller].isConnected(own, to: peer.onAir) {
            return status(.connectionAlreadyExists, of: opcode, controller)
        }
        for index in initiator.windows.indices { initiator.windows[index].start = now }
        controllers[controller].initiator = initiator
        refreshListening(controller)
        status(.success, of: opcode, controller)
    }

    /// Cancels the creation of a connection.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.13.
    private mutating func cancelConnection(_ controller: Int) {
        guard controllers[controller].initiator != nil else {
            return complete(HCI.LECreateConnectionCancel.self, .commandDisallowed, controller)
        }
        finishInitiating(controller)
        complete(HCI.LECreateConnectionCancel.self, .success, controller)
        sendConnectionFailure(.unknownConnectionIdentifier, peer: .none, .central, controller, at: now)
    }
}

extension VirtualController {
    /// Sets the parameters of legacy scanning; returns the status.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.10.
    mutating func setScanParameters(_ command: HCI.LESetScanParameters) -> HCI.Status {
        guard !scanner.isEnabled else { return .commandDisallowed }
        guard command.interval.fitsLegacyCommands, command.window <= command.interval else {
            return .invalidCommandParameters
        }
        let window = ScanWindow(.oneMegabit, command.type, command.interval, command.window)
        return set([window], command.ownAddress, command.policy)
    }

    /// Sets the parameters of extended scanning; returns the status.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.64.
    mutating func setScanParameters(_ command: HCI.LESetExtendedScanParameters) -> HCI.Status {
        guard !scanner.isEnabled else { return .commandDisallowed }
        var windows: [ScanWindow] = []
        for (phy, scan) in [(AirPHY.oneMegabit, command.le1M), (.codedEight, command.leCoded)] {
            guard let scan else { continue }
            guard scan.window <= scan.interval else { return .invalidCommandParameters }
            guard phy.bit & Self.supportedPHYs(identity.profile.features) != 0 else {
                return .unsupportedFeatureOrParameterValue
            }
            windows.append(ScanWindow(phy, scan.type, scan.interval, scan.window))
        }
        guard !windows.isEmpty else { return .invalidCommandParameters }
        return set(windows, command.ownAddress, command.policy)
    }

    private mutating func set(
        _ windows: [ScanWindow],
        _ ownAddress: HCI.OwnAddress,
        _ policy: HCI.ScanFilterPolicy
    ) -> HCI.Status {
        let takesUnresolved = policy == .everyoneAndUnresolved || policy == .acceptListAndUnresolved
        guard !takesUnresolved || identity.profile.features.contains(.extendedScanningFilterPolicies) else {
            return .unsupportedFeatureOrParameterValue
        }
        scanner.usesAcceptList = policy == .acceptList || policy == .acceptListAndUnresolved
        scanner.takesUnresolved = takesUnresolved
        scanner.windows = windows
        scanner.ownAddressKind = ownAddress.rawValue
        return .success
    }
}

extension ScanWindow {
    init(_ phy: AirPHY, _ type: HCI.ScanType, _ interval: ScanInterval, _ window: ScanInterval) {
        self.init(
            phy: phy,
            isActive: type == .active,
            interval: Int64(interval.wire) * Spacing.unit,
            window: Int64(window.wire) * Spacing.unit,
            start: Instant()
        )
    }
}
