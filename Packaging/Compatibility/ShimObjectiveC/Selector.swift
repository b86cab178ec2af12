import Foundation

/// A name of a method, with the method itself.
///
/// `ble toolset --objc` replaces `#selector(tick)` with a value that has the method. A selector that was made of a text
/// has only a name: it is equal to others of that name, but cannot be performed.
public struct Selector: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// A method that a target performs. It returns `nil` if the target is not of the method's type.
    typealias Method = (_ target: Any, _ arguments: [Any?]) -> Any??

    public let description: String
    /// The name of the method's type, for messages; empty without a method.
    private let type: String
    private nonisolated(unsafe) let method: Method?
    private nonisolated(unsafe) let isMethod: (Any) -> Bool

    public init(_ name: String) {
        description = name
        type = ""
        method = nil
        isMethod = { _ in false }
    }

    public init(stringLiteral name: String) { self.init(name) }

    /// Creates a selector of a method without parameters.
    @_disfavoredOverload
    public init<Target, Result>(_ name: String, _ method: @escaping (Target) -> () -> Result) {
        self.init(name) { (target: Target, _) in method(target)() }
    }

    /// Creates a selector of a method with one parameter.
    public init<Target, First, Result>(_ name: String, _ method: @escaping (Target) -> (First) -> Result) {
        self.init(name) { (target: Target, arguments) in
            method(target)(Self.argument(0, of: arguments, for: name))
        }
    }

    /// Creates a selector of a method with two parameters.
    public init<Target, First, Second, Result>(
        _ name: String,
        _ method: @escaping (Target) -> (First, Second) -> Result
    ) {
        self.init(name) { (target: Target, arguments) in
            method(target)(
                Self.argument(0, of: arguments, for: name),
                Self.argument(1, of: arguments, for: name)
            )
        }
    }

    /// Creates a selector of a method of the main actor without parameters.
    @_disfavoredOverload
    public init<Target, Result>(_ name: String, _ method: @escaping (Target) -> @MainActor () -> Result) {
        self.init(name) { (target: Target, _) in Self.onMainActor(method(target)) { $0() } }
    }

    /// Creates a selector of a method of the main actor with one parameter.
    public init<Target, First, Result>(_ name: String, _ method: @escaping (Target) -> @MainActor (First) -> Result) {
        self.init(name) { (target: Target, arguments) in
            nonisolated(unsafe) let first: First = Self.argument(0, of: arguments, for: name)
            return Self.onMainActor(method(target)) { $0(first) }
        }
    }

    /// Creates a selector of a class method without parameters.
    public init<Result>(_ name: String, classMethod: @escaping () -> Result) {
        self.init(name) { (_: AnyObject, _) in classMethod() }
    }

    /// Creates a selector of a class method with one parameter.
    public init<First, Result>(_ name: String, classMethod: @escaping (First) -> Result) {
        self.init(name) { (_: AnyObject, arguments) in classMethod(Self.argument(0, of: arguments, for: name)) }
    }

    private init<Target>(_ name: String, calling method: @escaping (Target, [Any?]) -> Any?) {
        description = name
        type = "\(Target.self)"
        self.method = { target, arguments in (target as? Target).map { method($0, arguments) } }
        isMethod = { $0 is Target }
    }

    /// True if a target has the method.
    func isMethod(of target: Any) -> Bool { isMethod(target) }

    /// Calls the method.
    ///
    /// The process ends if the selector has no method, or the method is one of another type, as it does on Apple's
    /// systems for an unrecognized selector.
    ///
    /// - Parameters:
    ///   - target: The object that has the method.
    ///   - arguments: At least as many arguments as the method has parameters.
    /// - Returns: The result of the method.
    @discardableResult
    public func call(on target: Any, _ arguments: [Any?] = []) -> Any? {
        guard let method else {
            fatalError("The selector “\(description)” was made from a string and calls no method. Write #selector(…)")
        }
        guard let result = method(target, arguments) else {
            fatalError(
                "The selector “\(description)” is a method of \(type), but the target is a \(Swift.type(of: target))"
            )
        }
        return result
    }

    public static func == (one: Selector, other: Selector) -> Bool { one.description == other.description }
    public func hash(into hasher: inout Hasher) { hasher.combine(description) }

    /// Returns an argument as a value of the parameter's type.
    private static func argument<Value>(_ index: Int, of arguments: [Any?], for name: String) -> Value {
        let argument = index < arguments.count ? arguments[index] : nil
        if let value = argument as? Value { return value }
        if let notification = argument as? Notification, let value = notification._bridgeToObjectiveC() as? Value {
            return value
        }
        let given = argument.map { "\($0)" } ?? "nil"
        fatalError("The selector “\(name)” expects an argument of type \(Value.self), not \(given)")
    }

    /// Calls a method of the main actor, which timers and notifications call on the main thread.
    private static func onMainActor<Method, Result>(_ method: Method, _ body: @MainActor (Method) -> Result) -> Result {
        withoutActuallyEscaping(body) { body in
            nonisolated(unsafe) let call = unsafeBitCast(body, to: ((Method) -> Result).self)
            return call(method)
        }
    }
}

/// Returns a selector that has only a name.
public func NSSelectorFromString(_ name: String) -> Selector { Selector(name) }

/// Returns the name of a selector.
public func NSStringFromSelector(_ selector: Selector) -> String { selector.description }
