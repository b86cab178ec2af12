import BLEWire

/// An advertising set of the controller.
///
/// With legacy commands, the only advertisement.
///
///        ┌─────┐ parameters, data, scan response, enable ┌────┐
///        │ off │ ───────────▶ preparing ───────────────▶ │ on │
///        └─────┘                                         └────┘
///           ▲ ────────── disable, or a central connects ───┘
///
/// A connection ends the advertisement. It continues as soon as the controller can accept another connection, as long
/// as it is wanted. The connection may be reported before the command that enabled the advertisement completes.
///
/// Core 6.0, Vol 4, Part E, 7.8.5 to 7.8.9 and 7.8.52 to 7.8.59.
struct AdvertisingSet {
    /// The delay after the controller rejected a command.
    static let retryInterval = Duration.seconds(1)

    enum Step: Equatable {
        case parameters(AdvertisementContent)
        /// Sets the random address of the set, which extended commands require.
        case address(OwnAddressKind?)
        /// Sets a part of the data. Legacy commands have a single part.
        case data([UInt8], HCI.DataOperation)
        case scanResponse([UInt8])
        case enable
        case disable
        /// Removes the set from the controller.
        case remove
    }

    private enum State {
        case off(notBefore: Instant?)
        /// The step with this number is pending, on the way to this content.
        case preparing(AdvertisementContent, Int)
        case on(AdvertisementContent)
        /// The content was advertised, and its end was reported before its start.
        case overtaken(AdvertisementContent)
        case disabling
        case removing
    }

    private var state = State.off(notBefore: nil)
    /// True if the set needs its own address.
    private let setsAddress: Bool
    /// True if the set is removed when it is not wanted any more.
    private let isTransient: Bool
    /// True if the set exists in the controller.
    private var exists = false

    /// The content to advertise; `nil` for none.
    var wanted: AdvertisementContent?
    /// True if another connection is possible, so that connectable advertising makes sense.
    var isAllowed = true

    init(setsAddress: Bool = false, isTransient: Bool = false) {
        self.setsAddress = setsAddress
        self.isTransient = isTransient
    }

    /// True if the controller is not advertising this set and no command is pending.
    var isOff: Bool { if case .off = state { true } else { false } }

    /// True if the set is not wanted and does not exist in the controller.
    var isGone: Bool { isOff && wanted == nil && !(isTransient && exists) }

    /// The time at which to request the next step unless something happens first.
    var deadline: Instant? {
        if case .off(let notBefore) = state, wanted != nil, isAllowed { notBefore } else { nil }
    }

    /// Returns the next command, unless one is pending or none is needed.
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
        case .preparing, .overtaken, .disabling, .removing: return nil
        }
    }

    private func steps(_ content: AdvertisementContent) -> [Step] {
        let parameters = content.parameters
        let address: [Step] = setsAddress ? [.address(parameters.ownAddress)] : []
        let data = parameters.hasData ? content.parts.map { Step.data($0.octets, $0.operation) } : []
        let response: [Step] = parameters.hasScanResponse ? [.scanResponse(content.scanResponse)] : []
        return [.parameters(content)] + address + data + response + [.enable]
    }

    /// The consequence of a completed command.
    enum OnAnswer: Equatable {
        case proceed
        /// The next command.
        case step(Step)
        /// The controller is not advertising this set.
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
        case .overtaken:
            // Nobody can tell whether the controller enabled it before or after what ended, so it is ended for certain.
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

    /// The content that is or was just being advertised.
    var onAir: AdvertisementContent? {
        switch state {
        case .on(let current), .overtaken(let current): current
        case .off, .preparing, .disabling, .removing: nil
        }
    }

    /// True if the controller may be advertising this set.
    var isOn: Bool {
        switch state {
        case .on, .disabling: true
        case .preparing(let current, let number): steps(current)[number] == .enable
        case .off, .overtaken, .removing: false
        }
    }

    /// Records that the controller ended the advertisement, as it does when a central connects.
    mutating func ended() {
        switch state {
        case .on: state = .off(notBefore: nil)
        case .preparing(let current, let number) where steps(current)[number] == .enable: state = .overtaken(current)
        case .off, .preparing, .overtaken, .disabling, .removing: break
        }
    }
}
