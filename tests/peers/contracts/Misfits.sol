// SPDX-License-Identifier: MIT
// Contracts that accept everything, or whose response is not valid: evm.mjs tries to sign in with them.
pragma solidity 0.8.37;

contract YesToAll {
    function isValidSignature(bytes32, bytes calldata) external pure returns (bytes4) {
        return 0x1626ba7e;
    }
}

contract Reverts {
    function isValidSignature(bytes32, bytes calldata) external pure returns (bytes4) {
        revert("never");
    }
}

contract RightAligned {
    function isValidSignature(bytes32, bytes calldata) external pure returns (uint256) {
        return 0x1626ba7e;
    }
}

contract SaysTrue {
    function isValidSignature(bytes32, bytes calldata) external pure returns (bool) {
        return true;
    }
}

contract TwoWords {
    function isValidSignature(bytes32, bytes calldata) external pure returns (bytes4, uint256) {
        return (0x1626ba7e, 0);
    }
}

contract FourBytes {
    fallback() external {
        assembly {
            mstore(0, shl(224, 0x1626ba7e))
            return(0, 4)
        }
    }
}

contract DirtyWord {
    fallback() external {
        assembly {
            mstore(0, or(shl(224, 0x1626ba7e), 1))
            return(0, 32)
        }
    }
}

contract SaysNothing {
    fallback() external {}
}

contract Halts {
    fallback() external {
        assembly {
            invalid()
        }
    }
}

contract BurnsAll {
    fallback() external {
        while (true) {}
    }
}

contract ReturnsMuch {
    fallback() external {
        assembly {
            mstore(0, shl(224, 0x1626ba7e))
            return(0, 40000)
        }
    }
}

contract HasNoSuchFunction {
    function other() external pure {}
}

/// Writes to storage while it checks a signature.
contract Writes {
    uint256 public count;

    function isValidSignature(bytes32, bytes calldata) external returns (bytes4) {
        count += 1;
        return 0x1626ba7e;
    }
}
