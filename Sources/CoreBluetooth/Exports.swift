// Apps written for Apple's framework often import nothing but it, and use what these two hold.
@_exported public import Dispatch
@_exported public import Foundation

// What else the two of Apple's systems bring along, under the names that they have there. Whoever else declares the
// same, as CoreFoundation does, is preferred.

/// The type name of dispatch queues in Apple's framework.
public typealias dispatch_queue_t = DispatchQueue

/// A point in time, in seconds since 1 January 2001.
public typealias CFAbsoluteTime = Double

/// A duration, in seconds.
public typealias CFTimeInterval = Double

/// Returns the current time, in seconds since 1 January 2001.
@_disfavoredOverload
public func CFAbsoluteTimeGetCurrent() -> CFAbsoluteTime { Date.timeIntervalSinceReferenceDate }

/// Nanoseconds in a second.
@_disfavoredOverload
public var NSEC_PER_SEC: UInt64 { 1_000_000_000 }
/// Nanoseconds in a millisecond.
@_disfavoredOverload
public var NSEC_PER_MSEC: UInt64 { 1_000_000 }
/// Nanoseconds in a microsecond.
@_disfavoredOverload
public var NSEC_PER_USEC: UInt64 { 1_000 }
/// Microseconds in a second.
@_disfavoredOverload
public var USEC_PER_SEC: UInt64 { 1_000_000 }
/// Milliseconds in a second.
@_disfavoredOverload
public var MSEC_PER_SEC: UInt64 { 1_000 }

/// Runs `body`.
///
/// There is no pool, because without the Objective-C runtime objects are released after their last use.
@_disfavoredOverload
public func autoreleasepool<Failure: Error, Result>(
    invoking body: () throws(Failure) -> Result
) throws(Failure) -> Result {
    try body()
}

/// The protocol/service multiplexer of an L2CAP connection-oriented channel, which identifies a service.
public typealias CBL2CAPPSM = UInt16
