import BLEWire

/// An advertising set of the controller.
///
/// With legacy commands, this is the controller's only advertisement.
///
///        ┌─────┐ parameters, data, scan response, enable ┌────┐
///        │ off │ ───────────▶ preparing ───────────────▶ │ on │
///        └─────┘                                         └────┘
///           ▲ ────────── disable, or a central connects ───┘
///
/// A connection ends the advertising. Advertising starts again as soon as it is allowed, if it is still wanted. The
/// controller may report the connection before it completes the command that enabled advertising.
///
/// Core 6.0, Vol 4, Part E, 7.8.5 to 7.8.9 and 7.8.52 to 7.8.59.
struct AdvertisingSet {
    /// The wait before trying again after the controller has rejected a command.
    static let retryInterval = Duration.seconds(1)

    enum Step: Equatable {
        case parameters(AdvertisementContent)
        /// Sets the set's own random address to an address of this kind; `nil` for the host's default. Only extended
        /// commands need this step.
        case address(OwnAddressKind?)
        /// Sets a part of the advertising data. With legacy commands, there is only one part.
        case data([UInt8], HCI.DataOperation)
        case scanResponse([UInt8])
        case enable
        case disable
        /// Removes the set from the controller.
        case remove
    }

    private enum State {
        case off(notBefore: Instant?)
        /// The set is being prepared to advertise this content, and the command for the step with this number is
        /// pending.
        case preparing(AdvertisementContent, Int)
        case on(AdvertisementContent)
        /// The content was advertised. The controller reported the end of advertising before it completed the enable
        /// command.
        case endedEarly(AdvertisementContent)
        case disabling
        case removing
    }

    private var state = State.off(notBefore: nil)
    /// True if the set needs its own address.
    private let setsAddress: Bool
    /// True to remove the set from the controller when it is no longer wanted.
    private let isTransient: Bool
    /// True if the set exists in the controller.
    private var exists = false

    /// The content to advertise; `nil` to stop advertising.
    var wanted: AdvertisementContent?
    /// True if the set may be advertised now.
    ///
    /// If false, the set stops advertising. It starts again once this is true, if there still is content to advertise.
    var isAllowed = true

    init(setsAddress: Bool = false, isTransient: Bool = false) {
        self.setsAddress = setsAddress
        self.isTransient = isTransient
    }

    /// True if the controller is not advertising this set and no command is pending.
    var isOff: Bool { if case .off = state { true } else { false } }

    /// True if this set is off and is not to be started; a transient set must also have been removed from the
    /// controller.
    var isGone: Bool { isOff && wanted == nil && !(isTransient && exists) }

    /// The time to request the next step; `nil` if nothing is due.
    var deadline: Instant? {
        if case .off(let notBefore) = state, wanted != nil, isAllowed { notBefore } else { nil }
    }

    /// Returns the next command; `nil` if one is pending or none is needed.
    mutating func step(at now: Instant) -> Step? {
        switch state {
        case .off(let notBefore):
            guard let wanted else {
                guard isTransient, exists else { return nil }
                state = .removing
                return .remove
            }
            guard isAllowed, notBefore.map({ $0 <= now }) ?? true else { return nil }
            state = .preparing(wanted, 0)
            return steps(wanted)[0]
        case .on(let current):
            guard current != wanted || !isAllowed else { return nil }
            state = .disabling
            return .disable
        case .preparing, .endedEarly, .disabling, .removing: return nil
        }
    }

    private func steps(_ content: AdvertisementContent) -> [Step] {
        let parameters = content.parameters
        let address: [Step] = setsAddress ? [.address(parameters.ownAddress)] : []
        let data = parameters.hasData ? content.parts.map { Step.data($0.octets, $0.operation) } : []
        let response: [Step] = parameters.hasScanResponse ? [.scanResponse(content.scanResponse)] : []
        return [.parameters(content)] + address + data + response + [.enable]
    }

    /// The action that the caller must take after the controller has completed a command.
    enum OnAnswer: Equatable {
        case proceed
        /// Send the next command.
        case step(Step)
        /// The controller rejected a command, so this set is not advertised.
        case failed
    }

    /// Processes the completion of the pending command.
    mutating func answered(_ status: HCI.Status, at now: Instant) -> OnAnswer {
        switch state {
        case .preparing(let current, let number):
            guard status == .success else {
                state = .off(notBefore: now + Self.retryInterval)
                return .failed
            }
            exists = true
            let steps = steps(current)
            guard number + 1 == steps.count else {
                state = .preparing(current, number + 1)
                return .step(steps[number + 1])
            }
            state = .on(current)
        case .endedEarly:
            // The controller may have enabled advertising before or after the reported end, so it has to be disabled
            // explicitly.
            state = .disabling
            return .step(.disable)
        case .disabling: state = .off(notBefore: nil)
        case .removing:
            exists = false
            state = .off(notBefore: nil)
        case .off, .on: break
        }
        return .proceed
    }

    /// The content that is being advertised; `nil` if there is none.
    ///
    /// The result includes content whose advertising ended before the enable command was completed.
    var onAir: AdvertisementContent? {
        switch state {
        case .on(let current), .endedEarly(let current): current
        case .off, .preparing, .disabling, .removing: nil
        }
    }

    /// True if the controller may be advertising this set.
    var isOn: Bool {
        switch state {
        case .on, .disabling: true
        case .preparing(let current, let number): steps(current)[number] == .enable
        case .off, .endedEarly, .removing: false
        }
    }

    /// Records that the controller ended the advertising, for example because a central connected.
    mutating func ended() {
        switch state {
        case .on: state = .off(notBefore: nil)
        case .preparing(let current, let number) where steps(current)[number] == .enable: state = .endedEarly(current)
        case .off, .preparing, .endedEarly, .disabling, .removing: break
        }
    }
}
