public import Foundation

/// The domain of ``CBATTError`` as `NSError`.
public let CBATTErrorDomain: String = "CBATTErrorDomain"

/// Why the server of a peer refused a request.
public struct CBATTError: CustomNSError, Hashable, Sendable, CustomStringConvertible {
    /// The same error in Foundation's form.
    public let _nsError: NSError

    /// Creates the error that Foundation's form of it stands for.
    public init(_nsError error: NSError) { _nsError = error }

    /// Creates an error from its code.
    public init(_ code: Code, userInfo: [String: Any] = [:]) {
        _nsError = NSError(domain: CBATTErrorDomain, code: code.rawValue, userInfo: userInfo)
    }

    /// What went wrong.
    public var code: Code { Code(rawValue: _nsError.code) ?? .__unrecognized(_nsError.code) }

    /// What is known besides the code.
    public var userInfo: [String: Any] { _nsError.userInfo }

    /// The domain of these errors as `NSError`.
    public static var errorDomain: String { CBATTErrorDomain }

    /// The number of the code.
    public var errorCode: Int { _nsError.code }

    /// What is known besides the code, and a description for people.
    public var errorUserInfo: [String: Any] {
        userInfo.merging([NSLocalizedDescriptionKey: code.text]) { given, _ in given }
    }

    /// What went wrong, in words for people.
    public var localizedDescription: String {
        userInfo[NSLocalizedDescriptionKey] as? String ?? code.text
    }

    /// The domain, the number and the words, for logs.
    public var description: String {
        "Error Domain=\(CBATTErrorDomain) Code=\(errorCode) \"\(localizedDescription)\""
    }

    /// Whether two errors have the same code and say the same besides.
    public static func == (a: Self, b: Self) -> Bool { a._nsError.isEqual(b._nsError) }

    /// Feeds the number of the code into `hasher`.
    ///
    /// Foundation's own hash of an `NSError` does not end on Linux.
    public func hash(into hasher: inout Hasher) { hasher.combine(errorCode) }
}
