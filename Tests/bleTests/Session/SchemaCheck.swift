import Foundation
import Testing

/// The part of JSON Schema that docs/session.schema.json uses.
struct SchemaCheck {
    private let parts: [String: Any]

    /// Reads the schema of sessions.
    init() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let data = try Data(contentsOf: root.appending(path: "docs/session.schema.json"))
        let object = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        parts = try #require(object["$defs"] as? [String: Any])
    }

    /// The schema with a name.
    func part(_ name: String) throws -> [String: Any] { try #require(parts[name] as? [String: Any]) }

    /// Returns the reason why `value` does not have the schema with a name; `nil` if it has.
    func violation(of name: String, by value: Any) -> String? {
        guard let schema = parts[name] as? [String: Any] else { return "no schema \(name)" }
        return violation(schema, value)
    }

    private func violation(_ schema: [String: Any], _ value: Any) -> String? {
        if let reference = schema["$ref"] as? String {
            return violation(of: String(reference.split(separator: "/").last ?? ""), by: value)
        }
        if let type = schema["type"] as? String, !Self.has(value, type) { return "\(value) is not of type \(type)" }
        if let constant = schema["const"] as? NSObject, constant != value as? NSObject { return "not \(constant)" }
        if let values = schema["enum"] as? [String], !values.contains(value as? String ?? "") {
            return "\(value) is not one of \(values)"
        }
        if let number = value as? NSNumber, !(value is String) {
            if let least = schema["minimum"] as? Double, number.doubleValue < least { return "\(number) < \(least)" }
            if let most = schema["maximum"] as? Double, number.doubleValue > most { return "\(number) > \(most)" }
        }
        if let text = value as? String {
            if let pattern = schema["pattern"] as? String,
                text.range(of: pattern, options: .regularExpression) == nil
            {
                return "“\(text)” does not match \(pattern)"
            }
            if let least = schema["minLength"] as? Int, text.count < least { return "“\(text)” is too short" }
        }
        if let items = schema["items"] as? [String: Any], let list = value as? [Any] {
            if let reason = list.lazy.compactMap({ violation(items, $0) }).first { return reason }
        }
        if let object = value as? [String: Any], let reason = violation(schema, in: object) { return reason }
        if let excluded = schema["not"] as? [String: Any], violation(excluded, value) == nil { return "\(excluded)" }
        guard let choices = schema["oneOf"] as? [[String: Any]] else { return nil }
        let reasons = choices.map { violation($0, value) }
        let count = reasons.count { $0 == nil }
        return count == 1 ? nil : "\(count) of \(choices.count) match: \(reasons.compactMap { $0 })"
    }

    private func violation(_ schema: [String: Any], in object: [String: Any]) -> String? {
        for key in schema["required"] as? [String] ?? [] where object[key] == nil { return "no key “\(key)”" }
        let properties = schema["properties"] as? [String: Any] ?? [:]
        for (key, value) in object {
            if let property = properties[key] as? [String: Any] {
                if let reason = violation(property, value) { return "\(key): \(reason)" }
            } else if schema["additionalProperties"] as? Bool == false {
                return "“\(key)” is not allowed"
            }
        }
        return nil
    }

    private static func has(_ value: Any, _ type: String) -> Bool {
        let isFlag = (value as? NSNumber).map { String(cString: $0.objCType) == "c" } ?? false
        return switch type {
        case "object": value is [String: Any]
        case "array": value is [Any]
        case "string": value is String
        case "boolean": isFlag
        case "number": !isFlag && value is NSNumber
        case "integer": !isFlag && (value as? NSNumber).map { Int(exactly: $0.doubleValue) != nil } ?? false
        default: false
        }
    }
}
