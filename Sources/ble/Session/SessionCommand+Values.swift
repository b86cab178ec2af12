import BLERuntime
import BLESimulation
import CoreBluetooth

// The values of keys in a command.
extension SessionCommand {
    static func text(_ key: String, _ value: Any?) throws(Invalid) -> String {
        guard let text = value as? String, !text.isEmpty else {
            throw Invalid(reason: "“\(key)” must be a string that is not empty.")
        }
        return text
    }

    static func flag(_ key: String, _ value: Any?) throws(Invalid) -> Bool {
        guard let number = value as? NSNumber, number.isBoolean else {
            throw Invalid(reason: "“\(key)” must be true or false.")
        }
        return number.boolValue
    }

    static func number(_ key: String, _ value: Any?, in range: ClosedRange<Double>) throws(Invalid) -> Double {
        guard let number = value as? NSNumber, !number.isBoolean, range.contains(number.doubleValue) else {
            let bounds = "\(Int(range.lowerBound)) to \(Int(range.upperBound))"
            throw Invalid(reason: "“\(key)” must be a number from \(bounds).")
        }
        return number.doubleValue
    }

    static func services(_ key: String, _ value: Any?) throws(Invalid) -> [CBUUID] {
        guard let list = value as? [String] else { throw Invalid(reason: "“\(key)” must be an array of strings.") }
        var services: [CBUUID] = []
        for text in list {
            guard let service = UUIDArgument(text, of: .service) else {
                throw Invalid(reason: "“\(text)” is not a service; use a UUID or an assigned name.")
            }
            services.append(service.uuid)
        }
        return services
    }

    static func whole(_ key: String, _ value: Any?, in range: ClosedRange<Double>) throws(Invalid) -> Int {
        guard let whole = Int(exactly: try number(key, value, in: range)) else {
            throw Invalid(reason: "“\(key)” must be a whole number.")
        }
        return whole
    }

    static func reference(_ text: String) throws(Invalid) -> CharacteristicReference {
        guard let reference = CharacteristicReference(argument: text) else {
            throw Invalid(reason: "“\(text)” is not a characteristic; use a UUID or an assigned name.")
        }
        return reference
    }

    static func references(_ key: String, _ value: Any?) throws(Invalid) -> [CharacteristicReference] {
        guard let list = value as? [String] else { throw Invalid(reason: "“\(key)” must be an array of strings.") }
        var references: [CharacteristicReference] = []
        for text in list { references.append(try reference(text)) }
        return references
    }

    static func faults(_ key: String, _ value: Any?) throws(Invalid) -> [DeviceFault] {
        guard let list = value as? [String] else { throw Invalid(reason: "“\(key)” must be an array of strings.") }
        var faults: [DeviceFault] = []
        for text in list {
            do {
                faults.append(try DeviceFault(text))
            } catch {
                throw Invalid(reason: "\(error).")
            }
        }
        return faults
    }

    static func device(_ key: String, _ value: Any?) throws(Invalid) -> SimulatedPeripheral {
        guard let object = value as? [String: Any], let data = try? JSONSerialization.data(withJSONObject: object)
        else { throw Invalid(reason: "“\(key)” must be an object.") }
        do {
            return try JSONDecoder().decode(SimulatedPeripheral.self, from: data)
        } catch {
            let reason = (error as? DecodingError)?.explanation ?? "\(error)"
            throw Invalid(reason: "“\(key)” does not describe a device (\(reason)).")
        }
    }
}

extension NSNumber {
    /// True if the value was `true` or `false` in JSON, rather than a number; an `NSNumber` can hold either.
    var isBoolean: Bool { String(cString: objCType) == "c" }
}
