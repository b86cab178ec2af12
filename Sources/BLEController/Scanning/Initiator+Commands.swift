import BLEWire

extension Initiator {
    /// Creates an initiator from a legacy command; returns `nil` if its parameters are invalid.
    init?(_ command: HCI.LECreateConnection) {
        guard command.interval.fitsLegacyCommands, command.window <= command.interval,
            let timing = Link.Timing(command.parameters)
        else { return nil }
        self.init(
            target: command.policy == .acceptList ? .acceptList : .address(command.peer),
            ownAddressKind: command.ownAddress.rawValue,
            windows: [ScanWindow(.oneMegabit, .passive, command.interval, command.window)],
            terms: [Terms(phy: 1, timing: timing)],
            isExtended: false
        )
    }

    /// Creates an initiator from an extended command; returns `nil` if its parameters are invalid.
    init?(_ command: HCI.LEExtendedCreateConnection) {
        var windows: [ScanWindow] = [], terms: [Terms] = []
        for (phy, wanted) in [
            (AirPHY.oneMegabit, command.le1M), (.twoMegabit, command.le2M), (.codedEight, command.leCoded),
        ] {
            guard let wanted else { continue }
            guard let timing = Link.Timing(wanted.parameters) else { return nil }
            terms.append(Terms(phy: phy.number, timing: timing))
            // The primary channels do not use 2M, so the parameters for 2M apply only to auxiliary packets, and need no
            // scan window.
            guard phy != .twoMegabit else { continue }
            guard wanted.window <= wanted.interval else { return nil }
            windows.append(ScanWindow(phy, .passive, wanted.interval, wanted.window))
        }
        guard !windows.isEmpty else { return nil }
        self.init(
            target: command.policy == .acceptList ? .acceptList : .address(command.peer),
            ownAddressKind: command.ownAddress.rawValue,
            windows: windows,
            terms: terms,
            isExtended: true
        )
    }
}

extension Link.Timing {
    /// Creates the timing that a host requests, with the longest interval that the host allows; returns `nil` if a
    /// parameter is invalid.
    init?(_ parameters: HCI.ConnectionParameters) {
        guard Link.isValid(LL.ConnectionParameters(parameters)) else { return nil }
        self.init(
            interval: parameters.maximum.wire,
            latency: parameters.latency.wire,
            timeout: parameters.timeout.wire
        )
    }
}

extension LL.ConnectionParameters {
    /// Creates the link layer's parameters from those of an HCI command.
    init(_ parameters: HCI.ConnectionParameters) {
        self.init(
            intervalMinimum: parameters.minimum.wire,
            intervalMaximum: parameters.maximum.wire,
            latency: parameters.latency.wire,
            timeout: parameters.timeout.wire
        )
    }
}
