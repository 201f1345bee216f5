"""The application of side `fastapi`, with response models as in the FastAPI tutorial."""

import os
from typing import Any, Dict, List, Optional
from uuid import uuid4

import jwt
from fastapi import APIRouter, Depends, FastAPI, HTTPException, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.middleware.cors import CORSMiddleware
from fastapi.responses import JSONResponse
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import BaseModel, Field

SECRET = os.environ["JWT_SECRET"]

app = FastAPI()
app.add_middleware(
    CORSMiddleware,
    allow_origins=["*"],
    allow_methods=["*"],
    allow_headers=["*"],
    expose_headers=["X-Session-Id", "WWW-Authenticate"],
)
bearer = HTTPBearer(auto_error=False)
items: Dict[str, Dict[str, Any]] = {}


class ItemRequest(BaseModel):
    data: Dict[str, Any]
    project_id: Optional[str] = Field(None, min_length=1)


class Item(BaseModel):
    id: str
    project_id: Optional[str]

    class Config:
        extra = "allow"


class ItemResponse(BaseModel):
    session_id: str
    status: str
    message: str
    data: Item


class ItemListResponse(ItemResponse):
    data: List[Item]


def unauthorized(code: str, message: str) -> HTTPException:
    detail = {"detail": message, "session_id": str(uuid4()), "error_code": code}
    return HTTPException(401, detail, headers={"WWW-Authenticate": "Bearer"})


# The function is async, because FastAPI would run any other function in a thread.
async def token_payload(
    credentials: Optional[HTTPAuthorizationCredentials] = Depends(bearer),
) -> Dict[str, Any]:
    if credentials is None:
        raise unauthorized("MISSING_TOKEN", "The token is missing")
    try:
        return jwt.decode(credentials.credentials, SECRET, ["HS256"], {"require": ["sub", "exp"]})
    except jwt.ExpiredSignatureError as error:
        raise unauthorized("TOKEN_EXPIRED", "The token has expired") from error
    except jwt.PyJWTError as error:
        raise unauthorized("INVALID_TOKEN", "The token is invalid") from error


def answer(response: Response, status: str, message: str, data: Any) -> Dict[str, Any]:
    session_id = str(uuid4())
    response.headers["X-Session-Id"] = session_id
    return {"session_id": session_id, "status": status, "message": message, "data": data}


def found(item_id: str) -> Dict[str, Any]:
    item = items.get(item_id)
    if item is None:
        detail = {"detail": f"Item {item_id} not found", "session_id": str(uuid4())}
        raise HTTPException(404, detail)
    return item


@app.exception_handler(RequestValidationError)
async def validation_error(_request: Request, error: RequestValidationError) -> JSONResponse:
    detail = {"detail": str(error), "session_id": str(uuid4()), "error_code": "VALIDATION_ERROR"}
    return JSONResponse({"detail": detail}, status_code=422)


@app.get("/api/v1/health")
async def health() -> Dict[str, Any]:
    return {
        "session_id": str(uuid4()),
        "status": "healthy",
        "service_name": "fastapi",
        "version": "1.0.0",
        "services_summary": {"total": 1, "healthy": 1, "unhealthy": 0},
    }


router = APIRouter(prefix="/api/v1/items", dependencies=[Depends(token_payload)])


@router.get("", response_model=ItemListResponse)
async def list_items(response: Response) -> Dict[str, Any]:
    return answer(response, "success", "Items retrieved successfully", list(items.values()))


@router.post("", response_model=ItemResponse, status_code=201)
async def create_item(request: ItemRequest, response: Response) -> Dict[str, Any]:
    item_id = str(uuid4())
    item = {**request.data, "id": item_id, "project_id": request.project_id}
    items[item_id] = item
    return answer(response, "created", "Item created successfully", item)


@router.get("/{item_id}", response_model=ItemResponse)
async def read_item(item_id: str, response: Response) -> Dict[str, Any]:
    return answer(response, "success", "Item retrieved successfully", found(item_id))


@router.put("/{item_id}", response_model=ItemResponse)
async def replace_item(item_id: str, request: ItemRequest, response: Response) -> Dict[str, Any]:
    found(item_id)
    item = {**request.data, "id": item_id, "project_id": request.project_id}
    items[item_id] = item
    return answer(response, "updated", "Item updated successfully", item)


@router.delete("/{item_id}")
async def delete_item(item_id: str) -> Response:
    found(item_id)
    del items[item_id]
    return Response(status_code=204, headers={"X-Session-Id": str(uuid4())})


app.include_router(router)
