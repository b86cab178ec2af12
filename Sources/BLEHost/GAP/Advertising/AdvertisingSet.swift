import BLEWire

/// One advertising set of the controller; with the older commands, the one advertisement that there is.
///
///        ┌─────┐ parameters, data, scan response, enable ┌────┐
///        │ off │ ───────────▶ preparing ───────────────▶ │ on │
///        └─────┘                                         └────┘
///           ▲ ────────── disable, or a central connects ───┘
///
/// A connection ends the advertisement; it goes on as soon as the controller can take another, for as long as it is
/// wanted. The connection may be told of before the command that enabled the advertisement is answered, which is
/// overtaken then.
///
/// Core 6.0, Vol 4, Part E, 7.8.5 to 7.8.9 and 7.8.52 to 7.8.59.
struct AdvertisingSet {
    /// How long to wait after the controller refused a command.
    static let retryInterval = Duration.seconds(1)

    enum Step: Equatable {
        case parameters(AdvertisementContent)
        /// Gives the set the random address of this host, which the extended commands ask for.
        case address(OwnAddressKind?)
        /// A part of the data, and which; the older commands know but one.
        case data([UInt8], HCI.DataOperation)
        case scanResponse([UInt8])
        case enable
        case disable
        /// Has the controller forget the set.
        case remove
    }

    private enum State {
        case off(notBefore: Instant?)
        /// The step with this number is under way, toward this content.
        case preparing(AdvertisementContent, Int)
        case on(AdvertisementContent)
        /// This was on the air, and its end has come before the answer to its beginning.
        case overtaken(AdvertisementContent)
        case disabling
        case removing
    }

    private var state = State.off(notBefore: nil)
    /// Whether the set needs an address of its own.
    private let setsAddress: Bool
    /// Whether the controller is to forget the set when nobody wants it.
    private let isTransient: Bool
    /// Whether the controller knows the set.
    private var exists = false

    /// What is to be on the air; `nil` for nothing.
    var wanted: AdvertisementContent?
    /// Whether another connection would be possible, so that it makes sense to advertise.
    var isAllowed = true

    init(setsAddress: Bool = false, isTransient: Bool = false) {
        self.setsAddress = setsAddress
        self.isTransient = isTransient
    }

    /// Whether the controller does not advertise this, and nothing of that is under way.
    var isOff: Bool { if case .off = state { true } else { false } }

    /// Whether nobody wants the set, and the controller has nothing of it.
    var isGone: Bool { isOff && wanted == nil && !(isTransient && exists) }

    /// When to ask for the next step, if nothing happens before.
    var deadline: Instant? {
        if case .off(let notBefore) = state, wanted != nil, isAllowed { notBefore } else { nil }
    }

    /// Returns the command that leads toward what is wanted, unless one is under way or none is needed.
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

    /// What the answer to a command means.
    enum OnAnswer: Equatable {
        case proceed
        /// This is the next command.
        case step(Step)
        /// The controller does not advertise this.
        case failed
    }

    /// The command that is under way was answered.
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

    /// What the controller advertises, or has advertised until just now.
    var onAir: AdvertisementContent? {
        switch state {
        case .on(let current), .overtaken(let current): current
        case .off, .preparing, .disabling, .removing: nil
        }
    }

    /// Whether the controller may advertise this now.
    var isOn: Bool {
        switch state {
        case .on, .disabling: true
        case .preparing(let current, let number): steps(current)[number] == .enable
        case .off, .overtaken, .removing: false
        }
    }

    /// The controller has ended the advertisement by itself, as it does when a central connects.
    mutating func ended() {
        switch state {
        case .on: state = .off(notBefore: nil)
        case .preparing(let current, let number) where steps(current)[number] == .enable: state = .overtaken(current)
        case .off, .preparing, .overtaken, .disabling, .removing: break
        }
    }
}
