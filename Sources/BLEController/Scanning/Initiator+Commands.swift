import BLEWire

extension Initiator {
    /// Creates what a legacy command asks for; `nil` if its parameters make no sense.
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

    /// Creates what an extended command asks for; `nil` if its parameters make no sense.
    init?(_ command: HCI.LEExtendedCreateConnection) {
        var windows: [ScanWindow] = [], terms: [Terms] = []
        for (phy, wanted) in [
            (AirPHY.oneMegabit, command.le1M), (.twoMegabit, command.le2M), (.codedEight, command.leCoded),
        ] {
            guard let wanted else { continue }
            guard let timing = Link.Timing(wanted.parameters) else { return nil }
            terms.append(Terms(phy: phy.number, timing: timing))
            // There is no primary channel on 2M: its terms are for auxiliary packets alone.
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
    /// Creates the timing that a host asks for: its longest interval; `nil` if that cannot be kept.
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
    /// Creates what link layers say of what a host asks for.
    init(_ parameters: HCI.ConnectionParameters) {
        self.init(
            intervalMinimum: parameters.minimum.wire,
            intervalMaximum: parameters.maximum.wire,
            latency: parameters.latency.wire,
            timeout: parameters.timeout.wire
        )
    }
}
