import BLEWire

// The HCI commands for the next steps of the state machines, in legacy or extended form as the controller needs.
extension ControllerDescription {
    /// The scan interval and window while initiating, which leave some time for existing links.
    private static let listening = (
        interval: ScanInterval(.milliseconds(40)), window: ScanInterval(.milliseconds(30))
    )
    /// The scan window on the Coded PHY: the part of the interval that the window of the 1M PHY leaves free.
    private static let codedWindow = ScanInterval(.milliseconds(10))

    /// True if the controller can receive advertisers on the Coded PHY and connect to them.
    ///
    /// Core 6.0, Vol 6, Part B, 4.4.3.
    var receivesCoded: Bool { usesExtendedCommands && features.contains(.phyCoded) }

    func command(_ step: Scanner.Step) -> HCICommandPacket {
        switch step {
        case .configure(let parameters): return scanParameters(parameters)
        case .enable(let dropsDuplicates) where usesExtendedCommands:
            return .leSetExtendedScanEnable(.init(enable: true, filterDuplicates: dropsDuplicates ? .on : .off))
        case .enable(let dropsDuplicates):
            return .leSetScanEnable(.init(enable: true, filterDuplicates: dropsDuplicates))
        case .disable where usesExtendedCommands: return .leSetExtendedScanEnable(.init(enable: false))
        case .disable: return .leSetScanEnable(.init(enable: false))
        }
    }

    private func scanParameters(_ parameters: ScanParameters) -> HCICommandPacket {
        let type: HCI.ScanType = parameters.isActive ? .active : .passive
        let interval = ScanInterval(parameters.interval)
        let ownAddress = ownAddress(parameters.ownAddress) ?? ownAddress
        guard usesExtendedCommands else {
            let window = parameters.window.map { ScanInterval($0) } ?? interval
            return .leSetScanParameters(.init(type: type, interval: interval, window: window, ownAddress: ownAddress))
        }
        func scan(_ window: Duration?) -> HCI.LESetExtendedScanParameters.Scan? {
            window.map { .init(type: type, interval: interval, window: ScanInterval($0)) }
        }
        let coded = receivesCoded ? scan(parameters.codedWindow) : nil
        return .leSetExtendedScanParameters(
            .init(ownAddress: ownAddress, le1M: scan(parameters.window), leCoded: coded)
        )
    }

    func command(_ step: Initiator.Step, parameters: HCI.ConnectionParameters) -> HCICommandPacket {
        switch step {
        case .add(let address): .leAddDeviceToFilterAcceptList(.init(address: address))
        case .remove(let address): .leRemoveDeviceFromFilterAcceptList(.init(address: address))
        case .cancel: .leCreateConnectionCancel
        case .create(.peer(let address), let kind): create(.peer, address, from: kind, parameters)
        case .create(.acceptList, let kind): create(.acceptList, .none, from: kind, parameters)
        }
    }

    private func create(
        _ policy: HCI.InitiatorFilterPolicy,
        _ peer: DeviceAddress,
        from kind: OwnAddressKind?,
        _ parameters: HCI.ConnectionParameters
    ) -> HCICommandPacket {
        let listening = Self.listening
        let ownAddress = ownAddress(kind) ?? ownAddress
        guard usesExtendedCommands else {
            return .leCreateConnection(
                .init(
                    interval: listening.interval,
                    window: listening.window,
                    policy: policy,
                    peer: peer,
                    ownAddress: ownAddress,
                    parameters: parameters
                )
            )
        }
        func initiation(_ window: ScanInterval) -> HCI.LEExtendedCreateConnection.Initiation {
            .init(interval: listening.interval, window: window, parameters: parameters)
        }
        return .leExtendedCreateConnection(
            .init(
                policy: policy,
                ownAddress: ownAddress,
                peer: peer,
                le1M: initiation(listening.window),
                leCoded: receivesCoded ? initiation(Self.codedWindow) : nil
            )
        )
    }

    func command(_ step: AdvertisingSet.Step, for set: AdvertisingHandle) -> HCICommandPacket {
        switch step {
        case .parameters(let content): return advertisingParameters(content.parameters, in: set)
        case .address(let kind):
            return .leSetAdvertisingSetRandomAddress(.init(set: set, address: setAddress(kind)))
        case .data(let data, let operation) where usesExtendedCommands:
            return .leSetExtendedAdvertisingData(.init(set: set, operation: operation, data: data))
        case .data(let data, _): return .leSetAdvertisingData(.init(data: data))
        case .scanResponse(let data) where usesExtendedCommands:
            return .leSetExtendedScanResponseData(.init(set: set, data: data))
        case .scanResponse(let data): return .leSetScanResponseData(.init(data: data))
        case .enable where usesExtendedCommands:
            return .leSetExtendedAdvertisingEnable(.init(enable: true, sets: [.init(set: set)]))
        case .enable: return .leSetAdvertisingEnable(.init(enable: true))
        case .disable where usesExtendedCommands:
            return .leSetExtendedAdvertisingEnable(.init(enable: false, sets: [.init(set: set)]))
        case .disable: return .leSetAdvertisingEnable(.init(enable: false))
        case .remove: return .leRemoveAdvertisingSet(.init(set: set))
        }
    }
}
