/// A deliberate fault of a served device: this computer acts as the device, so that a real central can be tested.
///
/// Its textual form is that of ``World/Fault``, but with the type of a characteristic in place of the name of a
/// machine:
///
///     silence at step didReceiveRead 1 of FFA1
///     answer after 5000 ms at every didReceiveWrite
///     error 14 at step didReceiveRead 2
///     disconnect after 100 ms at step didConnect 1
///     servicesChange at time 20000 ms
package struct DeviceFault: Hashable, Sendable {
    /// The effect of a fault.
    package enum Kind: Hashable, Sendable {
        /// The device never answers the request.
        case silence
        /// The device answers as usual, which makes sense only with a delay.
        case answer
        /// The device refuses the request with this ATT error code.
        case error(UInt8)
        /// The device answers a read, or updates a value, with these octets.
        case value([UInt8])
        /// The device shortens the value to this number of octets, or extends it with zeros.
        case length(Int)
        /// The device does not send an updated value.
        case drop
        /// The device sends an updated value twice.
        case `repeat`
        /// The device ends the connections to all centrals. If a request causes this fault, the device does not answer
        /// the request.
        case disconnect
        /// The device removes its last service or, if the previous fault of this kind removed a service, publishes that
        /// service again.
        case servicesChange
        /// The device stops advertising.
        case stopAdvertising
        /// The device advertises again.
        case startAdvertising
        /// The device refuses to pair from now on.
        case refusePairing
        /// The device removes its bonds.
        case forgetBonds
    }

    /// A point in the life of a served device at which a fault can happen.
    ///
    /// The steps are named after methods of Core Bluetooth.
    package enum Step: String, Hashable, Sendable, CaseIterable {
        /// A central connected.
        case didConnect
        /// A central reads a value.
        case didReceiveRead
        /// A central writes a value.
        case didReceiveWrite
        /// A central subscribed to a value.
        case didSubscribe
        /// A value changes and is sent to its subscribers.
        case updateValue
    }

    /// The point at which a fault happens: a time, or a step of the device.
    package enum Moment: Hashable, Sendable {
        /// This time after the device was published.
        case time(Duration)
        /// The nth time that a step is reached.
        case step(Step, Int)
        /// Each time that a step is reached.
        case every(Step)

        /// The step of the moment; `nil` for a time.
        package var step: Step? {
            switch self {
            case .time: nil
            case .step(let step, _), .every(let step): step
            }
        }
    }

    package let kind: Kind
    /// The time between the moment and the fault.
    package let delay: Duration
    package let moment: Moment
    /// The characteristic whose steps count, as written after `of`, such as `FFA1`; `nil` for all characteristics.
    package let characteristic: String?

    /// The reason why a text cannot be parsed as a fault.
    package struct Mistake: Error, Hashable, CustomStringConvertible {
        package let description: String
    }

    /// Parses the textual form.
    package init(_ text: String) throws(Mistake) {
        var words = FaultParser(text)
        kind = try Self.kind(&words, of: text)
        if words.take(" after ") {
            guard let delay = words.duration(), .zero ... .seconds(Self.mostSeconds) ~= delay else {
                throw Mistake(description: "“\(text)”: “after” needs a duration of at most one day, such as “500 ms”")
            }
            self.delay = delay
        } else {
            delay = .zero
        }
        guard words.take(" at ") else {
            throw Mistake(description: "“\(text)”: expected “at” with a moment, such as “at every didConnect”")
        }
        moment = try Self.moment(&words, of: text)
        let hasTarget = words.take(" of ")
        characteristic = hasTarget ? words.machine() : nil
        guard words.isAtEnd, (characteristic != nil) == hasTarget else {
            throw Mistake(description: "“\(text)”: expected nothing after the moment except “of” and a characteristic")
        }
        if let reason = conflict { throw Mistake(description: "“\(text)”: \(reason)") }
    }

    /// The longest delay in seconds: a day.
    private static let mostSeconds = 86_400
    private static let kinds =
        """
        silence, answer, error N, value HEX, length N, drop, repeat, disconnect, servicesChange, stopAdvertising, \
        startAdvertising, refusePairing or forgetBonds
        """

    private static func kind(_ words: inout FaultParser, of text: String) throws(Mistake) -> Kind {
        switch words.word() {
        case "silence": return .silence
        case "answer": return .answer
        case "drop": return .drop
        case "repeat": return .repeat
        case "disconnect": return .disconnect
        case "servicesChange": return .servicesChange
        case "stopAdvertising": return .stopAdvertising
        case "startAdvertising": return .startAdvertising
        case "refusePairing": return .refusePairing
        case "forgetBonds": return .forgetBonds
        case "error":
            guard words.take(" "), let code = words.number().flatMap(UInt8.init(exactly:)), code > 0 else {
                throw Mistake(description: "“\(text)”: expected an ATT error code from 1 to 255 after “error”")
            }
            return .error(code)
        case "length":
            guard words.take(" "), let length = words.number(), 0...512 ~= length else {
                throw Mistake(description: "“\(text)”: expected a number of octets from 0 to 512 after “length”")
            }
            return .length(length)
        case "value":
            guard words.take(" "), let octets = words.word().flatMap(octets(in:)) else {
                throw Mistake(description: "“\(text)”: expected at most 512 pairs of hexadecimal digits after “value”")
            }
            return .value(octets)
        default: throw Mistake(description: "“\(text)” does not begin with \(kinds)")
        }
    }

    private static func octets(in text: String) -> [UInt8]? {
        guard text.utf8.count % 2 == 0, text.utf8.count <= 1_024 else { return nil }
        var octets: [UInt8] = [], rest = text[...].utf8
        while rest.count >= 2 {
            guard let octet = UInt8(Substring(rest.prefix(2)), radix: 16) else { return nil }
            octets.append(octet)
            rest = rest.dropFirst(2)
        }
        return octets
    }

    private static func moment(_ words: inout FaultParser, of text: String) throws(Mistake) -> Moment {
        let steps = Step.allCases.map(\.rawValue).joined(separator: ", ")
        let name = words.word()
        guard let name, ["time", "step", "every"].contains(name), words.take(" ") else {
            throw Mistake(description: "“\(text)”: expected a moment, “time 500 ms”, “step NAME N” or “every NAME”")
        }
        guard name != "time" else {
            guard let time = words.duration(), .zero ... .seconds(mostSeconds) ~= time else {
                let rule = "“time” needs a duration of at most one day, such as “500 ms”"
                throw Mistake(description: "“\(text)”: \(rule)")
            }
            return .time(time)
        }
        guard let step = words.word().flatMap(Step.init(rawValue:)) else {
            throw Mistake(description: "“\(text)”: the step is not one of \(steps)")
        }
        guard name == "step" else { return .every(step) }
        guard words.take(" "), let number = words.number(), number > 0 else {
            throw Mistake(description: "“\(text)”: expected a number, 1 or greater, after the step")
        }
        return .step(step, number)
    }

    /// The reason why the kind does not fit the moment; `nil` if it does.
    private var conflict: String? {
        let step = moment.step
        if characteristic != nil, step == nil || step == .didConnect {
            return "“of” needs the step didReceiveRead, didReceiveWrite, didSubscribe or updateValue"
        }
        switch (kind, step) {
        case (.silence, .didReceiveRead), (.silence, .didReceiveWrite), (.answer, .didReceiveRead),
            (.answer, .didReceiveWrite), (.error, .didReceiveRead), (.error, .didReceiveWrite),
            (.value, .didReceiveRead), (.value, .updateValue), (.length, .didReceiveRead), (.length, .updateValue),
            (.drop, .updateValue), (.repeat, .updateValue):
            return nil
        case (.silence, _), (.answer, _), (.error, _):
            return "this fault needs the step didReceiveRead or didReceiveWrite"
        case (.value, _), (.length, _): return "this fault needs the step didReceiveRead or updateValue"
        case (.drop, _), (.repeat, _): return "this fault needs the step updateValue"
        case (.disconnect, _), (.servicesChange, _), (.stopAdvertising, _), (.startAdvertising, _),
            (.refusePairing, _), (.forgetBonds, _):
            return nil
        }
    }
}

extension DeviceFault: CustomStringConvertible {
    /// The textual form, which ``init(_:)`` parses.
    package var description: String {
        let delay = delay == .zero ? "" : " after \(delay.inExactMilliseconds)"
        return "\(kind)\(delay) at \(moment)" + (characteristic.map { " of \(FaultParser.machine($0))" } ?? "")
    }
}

extension DeviceFault.Kind: CustomStringConvertible {
    /// The textual form of the kind.
    package var description: String {
        switch self {
        case .silence: "silence"
        case .answer: "answer"
        case .error(let code): "error \(code)"
        case .value(let octets): "value \(octets.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined())"
        case .length(let length): "length \(length)"
        case .drop: "drop"
        case .repeat: "repeat"
        case .disconnect: "disconnect"
        case .servicesChange: "servicesChange"
        case .stopAdvertising: "stopAdvertising"
        case .startAdvertising: "startAdvertising"
        case .refusePairing: "refusePairing"
        case .forgetBonds: "forgetBonds"
        }
    }
}

extension DeviceFault.Moment: CustomStringConvertible {
    /// The textual form of the moment.
    package var description: String {
        switch self {
        case .time(let time): "time \(time.inExactMilliseconds)"
        case .step(let step, let number): "step \(step.rawValue) \(number)"
        case .every(let step): "every \(step.rawValue)"
        }
    }
}

/// The faults planned for a served device, with the number of times that the steps of the faults have occurred.
///
/// For a fault that is tied to a step, the plan counts how often the step has occurred. If the fault names a
/// characteristic, the step counts only if it concerns that characteristic.
package struct DeviceFaultPlan: Sendable {
    private var entries: [(fault: DeviceFault, count: Int)]

    /// Creates a plan of these faults; no step has occurred yet.
    package init(_ faults: [DeviceFault]) { entries = faults.map { ($0, 0) } }

    /// The faults that happen at a given time rather than at a step.
    package var timed: [DeviceFault] { entries.map(\.fault).filter { $0.moment.step == nil } }

    /// Counts a step, and returns the faults that happen now, in the order of the plan.
    ///
    /// - Parameters:
    ///   - step: The step.
    ///   - concerns: Returns true if the text names a characteristic that takes part in the step.
    /// - Returns: The faults.
    package mutating func reach(_ step: DeviceFault.Step, concerns: (String) -> Bool) -> [DeviceFault] {
        var due: [DeviceFault] = []
        for index in entries.indices {
            let fault = entries[index].fault
            guard fault.moment.step == step, fault.characteristic.map(concerns) ?? true else { continue }
            entries[index].count += 1
            if case .step(_, let number) = fault.moment, number != entries[index].count { continue }
            due.append(fault)
        }
        return due
    }
}
