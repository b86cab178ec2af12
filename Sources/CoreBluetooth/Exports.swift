// Apps written for Apple's framework often import nothing but it, and use what these two hold.
@_exported public import Dispatch
@_exported public import Foundation

// What else the two of Apple's systems bring along, under the names that they have there. Whoever else declares the
// same, as CoreFoundation does, is preferred.

/// A queue on which blocks run, under the name that Apple's framework uses for it.
public typealias dispatch_queue_t = DispatchQueue

/// A moment, in seconds since the beginning of 2001.
public typealias CFAbsoluteTime = Double

/// A span of time, in seconds.
public typealias CFTimeInterval = Double

/// What the clock on the wall says, in seconds since the beginning of 2001.
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

/// Runs `body`: without the Objective-C runtime there is no pool, since nothing is released later than at its last use.
@_disfavoredOverload
public func autoreleasepool<Failure: Error, Result>(
    invoking body: () throws(Failure) -> Result
) throws(Failure) -> Result {
    try body()
}

/// Names a service behind an L2CAP connection-oriented channel: protocol/service multiplexer.
public typealias CBL2CAPPSM = UInt16
