public import Foundation

/// The domain of the `NSError` that represents a ``CBATTError``.
public let CBATTErrorDomain: String = "CBATTErrorDomain"

/// An error that a peer's ATT server returned.
public struct CBATTError: CustomNSError, Hashable, Sendable, CustomStringConvertible {
    /// The same error as an `NSError`.
    public let _nsError: NSError

    /// Creates an error from its `NSError` form.
    public init(_nsError error: NSError) { _nsError = error }

    /// Creates an error from its code.
    public init(_ code: Code, userInfo: [String: Any] = [:]) {
        _nsError = NSError(domain: CBATTErrorDomain, code: code.rawValue, userInfo: userInfo)
    }

    /// The error code.
    public var code: Code { Code(rawValue: _nsError.code) ?? .__unrecognized(_nsError.code) }

    /// Additional information about the error.
    public var userInfo: [String: Any] { _nsError.userInfo }

    /// The domain of the `NSError` that represents an error of this type.
    public static var errorDomain: String { CBATTErrorDomain }

    /// The numeric value of the error code.
    public var errorCode: Int { _nsError.code }

    /// The entries of ``userInfo``, and a localized description if they contain none.
    public var errorUserInfo: [String: Any] {
        userInfo.merging([NSLocalizedDescriptionKey: code.text]) { given, _ in given }
    }

    /// A human-readable description of the error: the localized description in ``userInfo`` if there is one, otherwise
    /// an English sentence for the code.
    public var localizedDescription: String {
        userInfo[NSLocalizedDescriptionKey] as? String ?? code.text
    }

    /// The domain, number and description, for logs.
    public var description: String {
        "Error Domain=\(CBATTErrorDomain) Code=\(errorCode) \"\(localizedDescription)\""
    }

    /// Returns whether two errors have the same code and user information.
    public static func == (a: Self, b: Self) -> Bool { a._nsError.isEqual(b._nsError) }

    /// Hashes the numeric value of the error code.
    ///
    /// On Linux, Foundation's own hash of an `NSError` does not terminate.
    public func hash(into hasher: inout Hasher) { hasher.combine(errorCode) }
}
