import BLEWire

extension Air {
    /// Executes the commands for the filter accept list and the resolving list; returns false for other commands.
    mutating func performPrivacy(_ command: HCICommandPacket, _ controller: Int) -> Bool {
        switch command {
        case .leReadFilterAcceptListSize:
            let size = UInt8(AcceptList.capacity)
            complete(HCI.LEReadFilterAcceptListSize.self, .init(status: .success, size: size), controller)
        case .leClearFilterAcceptList:
            guard !rejectIfAcceptListInUse(HCI.LEClearFilterAcceptList.self, controller) else { return true }
            controllers[controller].acceptList.removeAll()
            complete(HCI.LEClearFilterAcceptList.self, .success, controller)
        case .leAddDeviceToFilterAcceptList(let command):
            guard !rejectIfAcceptListInUse(HCI.LEAddDeviceToFilterAcceptList.self, controller) else { return true }
            let status: HCI.Status =
                !VirtualController.isListable(command.address)
                ? .invalidCommandParameters
                : controllers[controller].acceptList.add(command.address) ? .success : .memoryCapacityExceeded
            complete(HCI.LEAddDeviceToFilterAcceptList.self, status, controller)
        case .leRemoveDeviceFromFilterAcceptList(let command):
            guard !rejectIfAcceptListInUse(HCI.LERemoveDeviceFromFilterAcceptList.self, controller) else { return true }
            controllers[controller].acceptList.remove(command.address)
            complete(HCI.LERemoveDeviceFromFilterAcceptList.self, .success, controller)
        default: return performResolving(command, controller)
        }
        return true
    }

    /// Rejects a command that changes the filter accept list if the list is in use; returns whether it rejected the
    /// command.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.15.
    private mutating func rejectIfAcceptListInUse<Command: HCICommand>(_ command: Command.Type, _ controller: Int)
        -> Bool
    where Command.Return == HCI.StatusReturn {
        let board = controllers[controller]
        let isUsed =
            board.sets.contains { $0.isEnabled && $0.filterPolicy != 0 }
            || board.scanner.isEnabled && board.scanner.usesAcceptList || board.initiator?.target == .acceptList
        if isUsed { complete(command, .commandDisallowed, controller) }
        return isUsed
    }

    private mutating func performResolving(_ command: HCICommandPacket, _ controller: Int) -> Bool {
        switch command {
        case .leAddDeviceToResolvingList(let command):
            guard !rejectIfResolvingListInUse(HCI.LEAddDeviceToResolvingList.self, controller) else { return true }
            complete(HCI.LEAddDeviceToResolvingList.self, add(command, controller), controller)
        case .leRemoveDeviceFromResolvingList(let command):
            guard !rejectIfResolvingListInUse(HCI.LERemoveDeviceFromResolvingList.self, controller) else { return true }
            let isKnown = controllers[controller].resolvingList.remove(command.identity)
            complete(
                HCI.LERemoveDeviceFromResolvingList.self,
                isKnown ? .success : .unknownConnectionIdentifier,
                controller
            )
        case .leClearResolvingList:
            guard !rejectIfResolvingListInUse(HCI.LEClearResolvingList.self, controller) else { return true }
            controllers[controller].resolvingList.removeAll()
            complete(HCI.LEClearResolvingList.self, .success, controller)
        case .leSetAddressResolutionEnable(let command):
            guard !controllers[controller].isBusy else {
                complete(HCI.LESetAddressResolutionEnable.self, .commandDisallowed, controller)
                return true
            }
            controllers[controller].resolvingList.enable(command.enable)
            complete(HCI.LESetAddressResolutionEnable.self, .success, controller)
        case .leSetPrivacyMode(let command):
            guard !rejectIfResolvingListInUse(HCI.LESetPrivacyMode.self, controller) else { return true }
            let isKnown = controllers[controller].resolvingList.setPrivacy(
                command.identity,
                device: command.mode == .device
            )
            complete(HCI.LESetPrivacyMode.self, isKnown ? .success : .unknownConnectionIdentifier, controller)
        default: return performResolvingReads(command, controller)
        }
        return true
    }

    private mutating func performResolvingReads(_ command: HCICommandPacket, _ controller: Int) -> Bool {
        switch command {
        case .leReadResolvingListSize:
            let size = UInt8(ResolvingList.capacity)
            complete(HCI.LEReadResolvingListSize.self, .init(status: .success, size: size), controller)
        case .leReadPeerResolvableAddress(let command):
            let address = controllers[controller].resolvingList.peerAddress(of: command.identity)
            let value = HCI.LEReadPeerResolvableAddress.Return(status: Self.status(address), address: address ?? .none)
            complete(HCI.LEReadPeerResolvableAddress.self, value, controller)
        case .leReadLocalResolvableAddress(let command):
            let address = controllers[controller].resolvingList.localAddress(for: command.identity)
            let value = HCI.LEReadLocalResolvableAddress.Return(status: Self.status(address), address: address ?? .none)
            complete(HCI.LEReadLocalResolvableAddress.self, value, controller)
        case .leSetResolvablePrivateAddressTimeout(let command):
            controllers[controller].resolvingList.replaceAddresses(every: command.timeout)
            scheduleRotation(controller)
            complete(HCI.LESetResolvablePrivateAddressTimeout.self, .success, controller)
        default: return false
        }
        return true
    }

    /// Adds a device to the resolving list; returns the status.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.38.
    private mutating func add(_ command: HCI.LEAddDeviceToResolvingList, _ controller: Int) -> HCI.Status {
        let outcome = controllers[controller].resolvingList.add(
            command.identity,
            peerKey: command.peerKey,
            localKey: command.localKey
        )
        return switch outcome {
        case .added: .success
        case .full: .memoryCapacityExceeded
        case .duplicate, .noIdentity: .invalidCommandParameters
        }
    }

    /// Returns the status for a command that reads a private address: an error if `address` is `nil`, because the
    /// device is not on the resolving list or no private address is in use for it.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.42 and 7.8.43.
    private static func status(_ address: DeviceAddress?) -> HCI.Status {
        address == nil ? .unknownConnectionIdentifier : .success
    }

    /// Rejects a command that changes the resolving list if the list is in use; returns whether it rejected the
    /// command.
    ///
    /// Core 6.0, Vol 4, Part E, 7.8.38.
    private mutating func rejectIfResolvingListInUse<Command: HCICommand>(_ command: Command.Type, _ controller: Int)
        -> Bool
    where Command.Return == HCI.StatusReturn {
        let isUsed = controllers[controller].resolvingList.isEnabled && controllers[controller].isBusy
        if isUsed { complete(command, .commandDisallowed, controller) }
        return isUsed
    }
}

extension VirtualController {
    /// True if the controller advertises, scans or initiates.
    var isBusy: Bool { scanner.isEnabled || initiator != nil || sets.contains { $0.isEnabled } }

    /// Returns whether the filter accept list can contain addresses of the same kind as `address`.
    static func isListable(_ address: DeviceAddress) -> Bool {
        [.public, .random, .anonymous].contains(address.kind)
    }
}
