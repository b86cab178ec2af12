import Dispatch
import Foundation
@_exported public import FoundationNetworking
@_exported public import ShimObjectiveC

@_exported public import protocol ShimOpenCombine.ObservableObject
@_exported public import struct ShimOpenCombine.Published

// The names that programs on Apple's systems have with Foundation, and Foundation on Linux lacks. The compiler imports
// this module into the files of modules that import Foundation. A declaration of another module takes precedence.

/// Nanoseconds in a second.
@_disfavoredOverload public let NSEC_PER_SEC: UInt64 = 1_000_000_000
/// Nanoseconds in a millisecond.
@_disfavoredOverload public let NSEC_PER_MSEC: UInt64 = 1_000_000
/// Nanoseconds in a microsecond.
@_disfavoredOverload public let NSEC_PER_USEC: UInt64 = 1000
/// Microseconds in a second.
@_disfavoredOverload public let USEC_PER_SEC: UInt64 = 1_000_000

/// The seconds since the first of January 2001, UTC.
public typealias CFAbsoluteTime = Double
/// A duration in seconds.
public typealias CFTimeInterval = Double

/// Returns the current time.
@_disfavoredOverload
public func CFAbsoluteTimeGetCurrent() -> CFAbsoluteTime { Date.timeIntervalSinceReferenceDate }

/// A queue that runs one closure at a time, which is what a queue with a label does.
public typealias DispatchSerialQueue = DispatchQueue

/// Queues can be the executors of actors.
extension DispatchQueue: @retroactive SerialExecutor {
    public func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }

    public func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

    public func checkIsolated() { dispatchPrecondition(condition: .onQueue(self)) }
}
