// Apps written for Apple's framework often import only CoreBluetooth, and use Dispatch and Foundation through it.
@_exported public import Dispatch
@_exported public import Foundation

// Further declarations that an app gets with Dispatch and Foundation on Apple's systems, under the same names. If
// another module declares the same name, as CoreFoundation does, its declaration is preferred.

/// The name that Apple's framework uses for the type of dispatch queues.
public typealias dispatch_queue_t = DispatchQueue

/// A point in time, in seconds since 1 January 2001.
public typealias CFAbsoluteTime = Double

/// A duration, in seconds.
public typealias CFTimeInterval = Double

/// Returns the current time, in seconds since 1 January 2001.
@_disfavoredOverload
public func CFAbsoluteTimeGetCurrent() -> CFAbsoluteTime { Date.timeIntervalSinceReferenceDate }

/// The number of nanoseconds in a second.
@_disfavoredOverload
public var NSEC_PER_SEC: UInt64 { 1_000_000_000 }
/// The number of nanoseconds in a millisecond.
@_disfavoredOverload
public var NSEC_PER_MSEC: UInt64 { 1_000_000 }
/// The number of nanoseconds in a microsecond.
@_disfavoredOverload
public var NSEC_PER_USEC: UInt64 { 1_000 }
/// The number of microseconds in a second.
@_disfavoredOverload
public var USEC_PER_SEC: UInt64 { 1_000_000 }
/// The number of milliseconds in a second.
@_disfavoredOverload
public var MSEC_PER_SEC: UInt64 { 1_000 }

/// Runs `body`.
///
/// There is no pool: without the Objective-C runtime, objects are released after their last use.
@_disfavoredOverload
public func autoreleasepool<Failure: Error, Result>(
    invoking body: () throws(Failure) -> Result
) throws(Failure) -> Result {
    try body()
}

/// The protocol/service multiplexer of an L2CAP connection-oriented channel, which identifies a service.
public typealias CBL2CAPPSM = UInt16
